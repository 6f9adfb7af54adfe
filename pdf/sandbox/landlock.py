"""Landlock: which files a process and all it starts can reach (Linux 5.13 and later).

Structures and values: include/uapi/linux/landlock.h. What a version of the kernel does not know is left out.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterable
from pathlib import Path

from pdf.sandbox.system_calls import prctl, system_call

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446  # the same on every architecture
_VERSION = 1
_RULE_PATH_BENEATH = 1
_PR_SET_NO_NEW_PRIVS = 38
_O_PATH = 0o10000000

_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
_REMOVE_FILE, _MAKE_SOCKET = 1 << 5, 1 << 9
_TRUNCATE, _IOCTL_DEV = 1 << 14, 1 << 15
_OF_FILES = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE | _IOCTL_DEV
# Access to the file system that each version can refuse: 1 to 5.
_KNOWN = {1: (1 << 13) - 1, 2: (1 << 14) - 1, 3: (1 << 15) - 1, 4: (1 << 15) - 1, 5: (1 << 16) - 1}
_TCP = 0b11  # bind, connect: version 4
_SCOPES = 0b11  # abstract Unix sockets, signals: version 6


class _Ruleset(ctypes.Structure):
    _fields_ = [("files", ctypes.c_uint64), ("network", ctypes.c_uint64), ("scoped", ctypes.c_uint64)]


class _PathBeneath(ctypes.Structure):
    _pack_ = 1
    _fields_ = [("access", ctypes.c_uint64), ("descriptor", ctypes.c_int32)]


def version() -> int:
    """Version of Landlock's interface in this kernel; 0 where it has none or it is switched off."""
    return max(0, system_call(_CREATE_RULESET, None, ctypes.c_size_t(0), ctypes.c_uint32(_VERSION)))


def restrict_files(
    readable: Iterable[str | Path],
    writable: Iterable[str | Path] = (),
    *,
    sockets: Iterable[str | Path] = (),
    may_execute: bool = False,
) -> bool:
    """Leave this process these files and folders only, with all that is in them. False where it cannot.

    Paths that do not exist are left out. ``sockets``: folders to create sockets in and remove files from.
    TCP, abstract sockets and signals to processes outside go too, where the kernel can refuse them.
    """
    known = version()
    if not known:
        return False
    files = _KNOWN[min(known, 5)]
    rules = _Ruleset(files, _TCP if known >= 4 else 0, _SCOPES if known >= 6 else 0)
    size = 24 if known >= 6 else 16 if known >= 4 else 8
    ruleset = system_call(_CREATE_RULESET, ctypes.byref(rules), ctypes.c_size_t(size), ctypes.c_uint32(0))
    if ruleset < 0:
        return False
    try:
        reading = _READ_FILE | _READ_DIR | (_EXECUTE if may_execute else 0)
        for paths, access in (
            (readable, reading),
            (writable, files & ~_EXECUTE),
            (sockets, _MAKE_SOCKET | _REMOVE_FILE),
        ):
            for path in paths:
                _allow(ruleset, path, access)
        prctl(_PR_SET_NO_NEW_PRIVS, 1)
        return system_call(_RESTRICT_SELF, ctypes.c_int(ruleset), ctypes.c_uint32(0)) == 0
    finally:
        os.close(ruleset)


def _allow(ruleset: int, path: str | Path, access: int) -> None:
    try:
        descriptor = os.open(path, _O_PATH | os.O_CLOEXEC)
    except OSError:
        return
    try:
        if not Path(path).is_dir():
            access &= _OF_FILES
        rule = _PathBeneath(access, descriptor)
        system_call(
            _ADD_RULE,
            ctypes.c_int(ruleset),
            ctypes.c_int(_RULE_PATH_BENEATH),
            ctypes.byref(rule),
            ctypes.c_uint32(0),
        )
    finally:
        os.close(descriptor)
