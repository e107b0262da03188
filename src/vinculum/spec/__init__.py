"""The content of the documents as frozen rows; standard library only."""
