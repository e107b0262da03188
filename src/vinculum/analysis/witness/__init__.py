"""Witnesses of findings: inputs of the model that show a finding, or an inner value that would."""
