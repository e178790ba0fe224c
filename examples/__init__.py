"""Small programs to differentiate, each a module on its own."""
