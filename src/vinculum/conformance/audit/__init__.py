"""Audits: running a real model in a foreign runtime and comparing its divisions with exact quotients."""
