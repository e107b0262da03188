"""``vinculum check --html``: a page with a picture of the part of a model's graph that leads to findings."""
