"""One section of a report a file."""
