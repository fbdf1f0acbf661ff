"""The bare Django site that the annotator's loop is compared with."""
