"""Pages of a person's own account: signing in, tokens, invitations."""
