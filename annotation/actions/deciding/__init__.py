"""What follows from answers: decisions, adjudication, accepted instances handed on and taken back."""
