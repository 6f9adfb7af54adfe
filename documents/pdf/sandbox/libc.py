"""The few calls of the C library that Python does not offer."""

from __future__ import annotations

import ctypes
import functools

_PR_CAPBSET_DROP = 24
_CAPABILITY_VERSION_3 = 0x20080522  # linux/capability.h


@functools.cache
def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def prctl(option: int, *values: int) -> int:
    """The result of prctl(2); -1 where it fails or the system has none."""
    arguments = [ctypes.c_ulong(value) for value in (*values, *[0] * (4 - len(values)))]
    try:
        return int(_libc().prctl(option, *arguments))
    except AttributeError:
        return -1


def system_call(number: int, *values: object) -> int:
    """The result of syscall(2); -1 where it fails."""
    return int(_libc().syscall(ctypes.c_long(number), *values))


def drop_capabilities() -> bool:
    """Give up what root may do beyond any user, for good. Return False where it cannot be given up."""
    for capability in range(64):
        prctl(_PR_CAPBSET_DROP, capability)
    header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION_3, 0)
    none = (ctypes.c_uint32 * 6)()  # effective, permitted, inheritable, twice 32 bits
    try:
        return int(_libc().capset(header, none)) == 0
    except AttributeError:
        return False
