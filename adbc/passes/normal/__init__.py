"""Passes that take a lifted graph to normal form and work on it without types."""
