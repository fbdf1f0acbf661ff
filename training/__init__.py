"""Train models of papers on the instances that people accepted. What runs on the worker with models is pure."""
