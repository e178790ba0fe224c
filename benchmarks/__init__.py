"""How long gradients take, as ratios to the plain functions: ``python -m benchmarks``."""

from __future__ import annotations

import os

# One thread each, or the number of cores would be measured.  Read when NumPy and the others are imported.
for _name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")
os.environ.setdefault("XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1")
