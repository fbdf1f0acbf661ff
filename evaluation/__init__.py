"""Public benchmarks: protocols, result files, alterations and word orders. Pure: scorers and pictures are passed in."""
