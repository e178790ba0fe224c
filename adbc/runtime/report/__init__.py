"""What is said to people: messages of refusals, tracebacks, dumps of stages, the checks of debug mode."""
