"""Pages of a project: members, imports, models, webhooks."""
