"""A local platform that behaves like Prolific: its API, its webhooks, its participants, and its failures on request.

It knows the site by HTTP alone. It stands on the standard library and SQLite, and is no part of the running site.
"""
