"""Passes that need the types which inference has written into a graph."""
