"""Blind baselines: programs that see only the texts, or only the images, of a question. Pure.

If one is right more often than by guessing, some questions can be answered without seeing all of them. The baselines of
this folder are fitted to other questions with known right answers. The caller passes in the embedding of images.
"""
