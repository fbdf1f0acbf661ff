"""The replay of BiVLC (Miranda et al. 2024): its steps 3 and 4 and its human baseline at full size, with annotators
who are made up so that what the paper published comes out. docs/replay.md says what is real and what is an input."""
