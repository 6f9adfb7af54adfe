"""Child processes that end with their parent."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import psutil
from django.conf import settings

from pdf.sandbox.confinement import die_with_parent, hide_memory

NICENESS = 10  # of workers: they still get about a tenth of a contended processor


def manage(*arguments: str) -> list[str]:
    """Return the command line of a management command."""
    return [sys.executable, "-W", "ignore", str(settings.BASE_DIR / "manage.py"), *arguments]


def bind_to_parent(parent: int) -> None:
    """End this process when process ``parent`` ends, and the processes it forks when it ends.

    The id is passed by ``ProcessGroup.start``: the parent may have ended before we could ask for it.
    """
    die_with_parent(parent)
    os.register_at_fork(after_in_child=lambda: die_with_parent(os.getppid()))


def lower_priority() -> None:
    """Lower the priority of this session, so that web processes come first."""
    hide_memory(False)  # while it is hidden, /proc/self belongs to root
    set_niceness(os.getpid(), os.nice(NICENESS))
    hide_memory()


def set_niceness(process_id: int, niceness: int) -> None:
    """Set that of a process and its session: Linux schedules by session where autogroups are enabled."""
    with suppress(OSError):  # of another user's process
        os.setpriority(os.PRIO_PROCESS, process_id, niceness)
        Path(f"/proc/{process_id}/autogroup").write_text(str(niceness))


@dataclass(slots=True)
class ProcessGroup:
    """A management command in a process group that Ctrl-C in the terminal does not reach."""

    process: subprocess.Popen[bytes]

    @classmethod
    def start(cls, *arguments: str) -> ProcessGroup:
        command = manage(*arguments, f"--parent={os.getpid()}")
        return cls(subprocess.Popen(command, start_new_session=True))

    @property
    def is_running(self) -> bool:
        return self.process.poll() is None

    def stop(self, patience: float) -> None:
        """Send SIGTERM to its processes, and SIGKILL to those left after ``patience`` seconds."""
        give_up_at = time.monotonic() + patience
        self._signal(signal.SIGTERM)
        while self._is_alive() and time.monotonic() < give_up_at:
            time.sleep(0.05)
        self._signal(signal.SIGKILL)
        self.process.wait()

    def kill(self) -> None:
        """Send SIGKILL to its processes."""
        self._signal(signal.SIGKILL)
        self.process.wait()

    def _is_alive(self) -> bool:
        self.process.poll()  # reaps the leader: a zombie would count as alive
        return self._signal(0)

    def _signal(self, number: int) -> bool:
        try:
            os.killpg(self.process.pid, number)
        except (ProcessLookupError, PermissionError):  # macOS refuses groups of zombies
            return False
        return True


def send(process: psutil.Process, number: int) -> None:
    with suppress(psutil.NoSuchProcess):
        process.send_signal(number)


def is_alive(process: psutil.Process) -> bool:
    """Return whether the process runs. A zombie does not: its parent is suspended and has not reaped it."""
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def children(process_id: int, recursive: bool = False) -> list[psutil.Process]:
    """Return the child processes that are alive; ``recursive``: and those below them."""
    try:
        return [child for child in psutil.Process(process_id).children(recursive) if is_alive(child)]
    except psutil.NoSuchProcess:
        return []
