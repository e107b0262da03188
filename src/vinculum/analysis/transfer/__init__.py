"""What each operator makes of what is known of its operands: tables of small functions, by subject."""
