"""Runs of the conformance suite, as a page, JUnit XML, SARIF and HTML."""
