"""Rows behind the quality of answers: what flag rules read of each session."""
