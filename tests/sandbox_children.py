"""Ends the idle children of the sandbox, so that a test starts without one."""

from __future__ import annotations

from pdf.sandbox import client


def stop_idle_children() -> None:
    while child := client._take_idle_child():
        client._end(child)
