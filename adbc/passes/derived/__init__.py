"""Passes over the graphs that builders make: they may use what is true of derivatives only."""
