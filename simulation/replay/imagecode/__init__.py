"""The replay of ImageCoDe (Krojer et al. 2022): its real descriptions, and retrievers of a stated accuracy who look for
their images. docs/replay.md says what is real and what is played."""
