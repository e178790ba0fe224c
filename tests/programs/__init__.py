"""Whole programs, written as anybody would write them, and what has to be true of their gradients."""
