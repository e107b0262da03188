"""What an operand is: its element type, shape and place in memory; no arithmetic."""
