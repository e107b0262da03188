"""Runs of the conformance suite, as a page, JSON, JUnit XML and HTML."""
