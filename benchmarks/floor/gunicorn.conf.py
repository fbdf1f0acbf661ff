"""The floor's web server, without the platform's settings."""

preload_app = True
