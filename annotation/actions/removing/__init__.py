"""Answers and questions that count no more: removals, erasure, retired questions."""
