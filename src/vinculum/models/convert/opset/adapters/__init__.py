"""Version adapters: what a node becomes where a new version of its operator changed what it says."""
