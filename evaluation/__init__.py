"""Public benchmarks: protocols, result files, alterations, word orders. Pure: scorers and images are passed in."""
