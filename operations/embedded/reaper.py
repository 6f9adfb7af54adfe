"""Stops the embedded server when the last process that used it is gone, however it went.

A process that ends in order stops the server itself (``server.at_exit``); one
that is killed cannot. So beside the server runs this process, which does
nothing but wait for the kernel to take the last user's lock away.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import NoReturn

from operations.embedded import server
from operations.embedded.locks import reaper_lock, wait_until_unused

PATIENCE = 10.0  # seconds a predecessor may take to go


def stop_when_unused(data: Path) -> NoReturn:
    """Until the server does not run; ends soon when somebody else takes care of it."""
    with reaper_lock(data, PATIENCE) as mine:
        while mine and server.is_running(data):
            wait_until_unused(data)
            server.stop_when_last(data)
        os._exit(0)  # its lock goes with the process, so that who has waited for it finds no process


if __name__ == "__main__":
    stop_when_unused(Path(sys.argv[1]))
