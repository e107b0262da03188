"""Benchmark runs, as a page, JSON, Markdown and a plot."""
