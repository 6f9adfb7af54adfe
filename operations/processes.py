"""Processes of ours: none outlives the one that began it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings

from pdf.sandbox.confinement import die_with_parent, hide_memory

NICENESS = 5  # of those who read documents: a quarter of a processor for which another waits, and no less


def manage(*arguments: str) -> list[str]:
    """The command line of one of our own commands."""
    return [sys.executable, "-W", "ignore", str(settings.BASE_DIR / "manage.py"), *arguments]


def bind_to_parent(parent: int) -> None:
    """This process ends with the one that began it, and each process it forks from now on ends with it.

    The parent says who it is (``Group.start``): it may be gone before we come to ask.
    """
    die_with_parent(parent)
    os.register_at_fork(after_in_child=lambda: die_with_parent(os.getppid()))


def lower_priority() -> None:
    """Who waits for an answer comes first: this session and what it begins gets the processors after others.

    Linux shares them out by session where it can (autogroups), and by process elsewhere.
    """
    os.nice(NICENESS)
    hide_memory(False)  # while it is hidden, these files belong to root
    with suppress(OSError):
        Path("/proc/self/autogroup").write_text(str(NICENESS))
    hide_memory()


@dataclass(slots=True)
class ProcessGroup:
    """A command in a process group of its own, which Ctrl-C in the terminal does not reach."""

    process: subprocess.Popen[bytes]

    @classmethod
    def start(cls, *arguments: str) -> ProcessGroup:
        command = manage(*arguments, f"--parent={os.getpid()}")
        return cls(subprocess.Popen(command, start_new_session=True))

    @property
    def is_running(self) -> bool:
        return self.process.poll() is None

    def stop(self, patience: float) -> None:
        """SIGTERM to all its processes, and SIGKILL to those that are left after so many seconds."""
        give_up_at = time.monotonic() + patience
        self._signal(signal.SIGTERM)
        while self._is_alive() and time.monotonic() < give_up_at:
            time.sleep(0.05)
        self._signal(signal.SIGKILL)
        self.process.wait()

    def kill(self) -> None:
        """SIGKILL to all its processes, at once."""
        self._signal(signal.SIGKILL)
        self.process.wait()

    def _is_alive(self) -> bool:
        self.process.poll()  # a leader that nobody waits for would count as alive
        return self._signal(0)

    def _signal(self, number: int) -> bool:
        try:
            os.killpg(self.process.pid, number)
        except (ProcessLookupError, PermissionError):  # macOS refuses groups of zombies
            return False
        return True
