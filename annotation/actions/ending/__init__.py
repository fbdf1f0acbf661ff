"""What the platform learns of a session that has ended, and whether its times are possible."""
