"""Pages of a study: drafts, preview, practice, launch, monitor."""
