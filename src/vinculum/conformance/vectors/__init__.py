"""The suite's cases as files, for programs without Python, and what their answers are worth."""
