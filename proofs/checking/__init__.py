"""Builds and replays the proofs: Why3 sessions, Gappa scripts, and variants that must not be provable."""
