"""Testing how a runtime divides: cases from the specification, run in a subprocess, and verdicts on the answers."""
