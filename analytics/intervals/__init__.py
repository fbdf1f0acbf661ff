"""Confidence intervals: bootstrap, clustered means, jackknife, prediction-powered estimates."""
