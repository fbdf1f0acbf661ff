"""Rows about instances: lists, filters, histories, accepted items."""
