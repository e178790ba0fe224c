"""What one top-level call holds while it runs: contexts, shadows, activity, what closures captured; and the
engine as the rooms above see it."""
