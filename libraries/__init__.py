"""Functions of packages that never heard of adbc, differentiated: ``python -m libraries``.

A folder for each field has a module for each package, in which short functions call the package as its users
do (`libraries.package`).  They are written down before adbc is asked about them: what a plain run must show
is that the value is finite and that finite differences of it settle (``--plain``).
"""

from __future__ import annotations

import os

# One thread each, or CPU time would depend on the number of cores.  Read when NumPy is imported.
for _name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")
