"""Judging answers by the exact reference: verdicts, as data."""
