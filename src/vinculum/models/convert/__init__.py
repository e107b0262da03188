"""Models carried to another operator set or another format, each division meaning what it meant."""
