"""Imports of instances: sources, checks, saving, jobs."""
