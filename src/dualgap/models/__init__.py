"""Models on disk: the record of a fit, its file, and whether what the file claims is true."""
