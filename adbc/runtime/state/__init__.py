"""What one top-level call holds while it runs: contexts, shadows, activity, what closures captured."""
