"""Reports of ``vinculum check`` and ``vinculum trace``."""
