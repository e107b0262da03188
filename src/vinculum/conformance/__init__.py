"""How a runtime really divides: cases from the specification, asked in another process, and verdicts on the answers."""
