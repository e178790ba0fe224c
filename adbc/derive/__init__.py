"""What both builders share: the copy of a graph's control flow, and what is written for each kind of call.

Forward mode has a tangent beside a value, reverse mode a shadow.  What is true of both is said here of the
*companion* of a value, whichever it is.
"""

from __future__ import annotations
