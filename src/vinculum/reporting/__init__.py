"""What a reader sees: pages and tables for people, JSON for machines."""
