"""How long the tests wait for a program that they start: far longer than it takes, so that one that hangs fails."""

SECONDS = 300
