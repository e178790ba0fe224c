"""The tier for cold code: graphs are run as they are, and a tape keeps what is to be reversed.

What runs once is not worth the code that a loop deserves: to write it takes a thousand times what it saves.
"""

from __future__ import annotations

from adbc.runtime.cold.machine import Frame
from adbc.runtime.cold.modes import Mode, Thermostat
from adbc.runtime.cold.program import Program, can_be_run
from adbc.runtime.cold.tier import REPEATED, ColdRule, Record

__all__ = ["REPEATED", "ColdRule", "Frame", "Mode", "Program", "Record", "Thermostat", "can_be_run"]
