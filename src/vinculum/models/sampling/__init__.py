"""Inputs that are drawn for a model, and outputs compared bit for bit."""
