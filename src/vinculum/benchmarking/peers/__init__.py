"""The measured peers, one module per package, our own engine, and the roofline."""
