"""Rows about annotators: who answered, what they are owed."""
