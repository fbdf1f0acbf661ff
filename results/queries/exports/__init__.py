"""Rows that leave in exports and releases."""
