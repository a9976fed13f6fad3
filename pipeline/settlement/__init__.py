"""Evidence weighed: which request a statement's line is about, what it proves, and what does not agree."""
