"""Dynamic calls: what CPython would do next, decided once for both modes, and carried out in either."""
