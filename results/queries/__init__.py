"""Database to plain rows and numbers, the only such place; code beyond it knows no models."""
