"""Replay of BiVLC (Miranda et al. 2024): its steps 3 and 4 and its human baseline at full size.

Simulated annotators reproduce the published results. docs/replay.md says what is real and what is an input.
"""
