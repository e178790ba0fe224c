"""The engine: graphs, guesses and derived rules, each made once and kept, here and on disk."""
