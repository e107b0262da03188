"""The command line: each command parses its arguments, makes one call, reports and exits."""
