"""Rows about studies: progress, pipeline, events, what to do next."""
