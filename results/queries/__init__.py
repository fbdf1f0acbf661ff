"""The one door from the database to plain rows and numbers; everything beyond it knows no models."""
