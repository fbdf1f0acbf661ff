"""Studies as a whole: launch, extend, complete, reopen."""
