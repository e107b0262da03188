"""What an answer is worth beside the exact reference: verdicts, as data."""
