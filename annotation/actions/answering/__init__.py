"""From the first question to the last: practice, answers, drafts, skips, reports."""
