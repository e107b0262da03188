"""The supported runtimes, one module each behind one protocol; each imports its package only when it runs."""
