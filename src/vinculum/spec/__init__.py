"""What the documents say, as frozen rows; standard library only."""
