"""Projects: members, roles, datasets, tags."""
