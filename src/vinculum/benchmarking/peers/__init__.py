"""Who is measured: a package a file, our own engine, and the roofline."""
