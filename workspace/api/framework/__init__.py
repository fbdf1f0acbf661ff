"""What every endpoint shares: authentication, errors, pages, idempotency, schema."""
