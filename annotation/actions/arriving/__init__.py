"""Who may enter a study, and which questions they get."""
