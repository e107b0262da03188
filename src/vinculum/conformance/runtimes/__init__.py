"""The runtimes that can be asked, one file each behind one protocol; each imports its package only to answer."""
