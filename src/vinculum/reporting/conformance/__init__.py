"""Runs of the conformance suite, as a page, JUnit XML and HTML."""
