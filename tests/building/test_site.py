"""The documentation site, built as `make docs` builds it: no warning, no dead link, and read in a real browser from its files."""
