"""Output: pages and tables for people, JSON and other formats for programs."""
