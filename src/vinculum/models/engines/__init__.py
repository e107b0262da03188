"""Engines that run everything in a model except its divisions."""
