"""Who may begin: so many at once, in the order in which they came."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass(slots=True)
class Turns:
    """A queue in front of something that only ``at_once`` may do at the same time."""

    at_once: int
    _inside: int = 0
    _waiting: deque[Turn] = field(default_factory=deque)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def ask(self) -> Turn:
        """A place at the end of the queue, from now on."""
        turn = Turn(self)
        with self._lock:
            if self._inside < self.at_once:
                self._inside += 1
                turn.come()
            else:
                self._waiting.append(turn)
        return turn

    def let_in(self, left: Turn) -> None:
        """Give the place of who left to who waits longest."""
        with self._lock:
            if not left.has_come:
                self._waiting.remove(left)
            elif self._waiting:
                self._waiting.popleft().come()
            else:
                self._inside -= 1


class Turn:
    """One place in the queue. ``wait`` until it comes; ``leave`` once, whether it came or not."""

    def __init__(self, queue: Turns) -> None:
        self._queue = queue
        self._come = threading.Event()
        self._left = False

    @property
    def has_come(self) -> bool:
        return self._come.is_set()

    def come(self) -> None:
        self._come.set()

    def wait(self, given_up: Callable[[], bool] = lambda: False, look: float = 0.5) -> None:
        """Return when the turn has come, or ``given_up`` says so."""
        while not self._come.wait(look) and not given_up():
            pass

    def leave(self) -> None:
        if not self._left:
            self._left = True
            self._queue.let_in(self)
