"""The tests of adbc. The folders mirror those of the package."""
