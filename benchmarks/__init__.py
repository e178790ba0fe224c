"""How long gradients take, as ratios to the plain functions: ``python -m benchmarks``."""
