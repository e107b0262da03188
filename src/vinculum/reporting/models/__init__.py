"""Pages and JSON of the commands on models: run, audit, convert and harden."""
