"""Replay of ImageCoDe (Krojer et al. 2022): its real descriptions, and simulated retrievers.

Retrievers have a stated accuracy. docs/replay.md says what is real and what is simulated.
"""
