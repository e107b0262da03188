"""What can go wrong at a node, a class for each: its code, its severity, its message, and what to do."""
