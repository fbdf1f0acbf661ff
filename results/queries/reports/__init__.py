"""Rows that reports are made of."""
