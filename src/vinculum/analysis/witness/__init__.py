"""What shows a finding: inputs of the model on which it happens, or an inner value on which it would."""
