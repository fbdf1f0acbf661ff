"""Blind baselines: programs that see only the texts, or only the pictures, of a question. Pure.

Where one of them is right more often than by guessing, the questions can be answered, in part, without seeing all of
them. Those of this folder are fitted to other questions whose right answers are known. Whoever calls them passes in how
pictures become vectors.
"""
