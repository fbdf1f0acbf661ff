"""The floor's web server: without the platform's settings, which the one of production would load."""

preload_app = True
