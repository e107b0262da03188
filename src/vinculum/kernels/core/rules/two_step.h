// Placeholder: what Why3 extracts.
