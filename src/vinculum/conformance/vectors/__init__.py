"""The suite's cases as files for programs without Python, and the verdicts on their answers."""
