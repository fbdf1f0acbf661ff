"""Names of splits, in lower case: what models are trained on, and what they are chosen by. All others are for tests."""

FOR_TRAINING = frozenset({"", "train", "training"})
FOR_VALIDATION = frozenset({"val", "valid", "validation", "dev"})
