"""The commands about runs of the conformance suite."""
