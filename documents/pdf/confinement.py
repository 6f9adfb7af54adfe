"""What a process that opens hostile files may not do: use memory or time without end, write files,
reach the network, start programs, or outlive its parent.

Linux does all of it. Elsewhere the resource limits hold, and the rest is left to the container.
"""

from __future__ import annotations

import ctypes
import os
import platform
import resource
import signal
import sys
import time
from pathlib import Path

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
_PR_SET_NO_NEW_PRIVS = 38
_PR_SET_SECCOMP = 22
_SECCOMP_MODE_FILTER = 2

# Classic BPF (linux/filter.h, linux/seccomp.h).
_LOAD_WORD, _JUMP_EQUAL, _JUMP_AT_LEAST, _RETURN = 0x20, 0x15, 0x35, 0x06
_ALLOW, _KILL, _REFUSE = 0x7FFF0000, 0x80000000, 0x00050000 | 1  # EPERM
_NUMBER_OFFSET, _ARCH_OFFSET, _FIRST_ARGUMENT_OFFSET = 0, 4, 16  # struct seccomp_data, little endian
_AF_UNIX = 1
_X32_CALLS = 0x40000000
# socket, connect, execve, execveat, ptrace, process_vm_readv, process_vm_writev
_FORBIDDEN = {
    "x86_64": (0xC000003E, (41, 42, 59, 322, 101, 310, 311)),
    "aarch64": (0xC00000B7, (198, 203, 221, 281, 117, 270, 271)),
}


class _Instruction(ctypes.Structure):
    _fields_ = [
        ("code", ctypes.c_ushort),
        ("jt", ctypes.c_ubyte),
        ("jf", ctypes.c_ubyte),
        ("k", ctypes.c_uint),
    ]


class _Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("filter", ctypes.POINTER(_Instruction))]


def die_with_parent(parent: int, by: signal.Signals = signal.SIGKILL) -> None:
    """The kernel ends this process when its parent ends; so do we when it has ended already."""
    if sys.platform == "linux":
        _prctl(_PR_SET_PDEATHSIG, by)
    if os.getppid() != parent:
        os._exit(1)


def adopt_orphans() -> None:
    """What our children leave running becomes ours: ``is_alone`` knows of it."""
    if sys.platform == "linux":
        _prctl(_PR_SET_CHILD_SUBREAPER, 1)


def is_alone(seconds: float) -> bool:
    """Whether all our children end within the time, those that were adopted included."""
    deadline = time.monotonic() + seconds
    while True:
        try:
            ended, _status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return True
        if not ended:
            if time.monotonic() > deadline:
                return False
            time.sleep(0.002)


def limit_memory(limit: int) -> None:
    """Address space in bytes. The hard limit stays, so that a stage that needs more can ask for it."""
    hard = resource.getrlimit(resource.RLIMIT_AS)[1]
    resource.setrlimit(resource.RLIMIT_AS, (limit if hard < 0 else min(limit, hard), hard))


def address_space() -> int:
    """Bytes of address space this process has now; 0 where the system does not say."""
    try:
        return int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    except OSError:
        return 0


def limit_cpu(seconds: float) -> None:
    """CPU seconds from now on, of this process alone; then the kernel ends it with SIGXCPU."""
    spent = resource.getrusage(resource.RUSAGE_SELF)
    total = int(spent.ru_utime + spent.ru_stime + seconds) + 1
    resource.setrlimit(resource.RLIMIT_CPU, (total, resource.getrlimit(resource.RLIMIT_CPU)[1]))


def confine() -> None:
    """No files written, no core, no network, no programs started. Holds for all later forks."""
    sys.dont_write_bytecode = True
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_NOFILE, (128, 128))
    if sys.platform == "linux" and platform.machine() in _FORBIDDEN:
        _refuse_calls(*_FORBIDDEN[platform.machine()])


def refuse_network() -> None:
    """No socket but those of this machine's own files. Holds for all later forks and programs."""
    if sys.platform == "linux" and platform.machine() in _FORBIDDEN:
        architecture, (socket, *_others) = _FORBIDDEN[platform.machine()]
        _install(
            *_of_architecture(architecture),
            _Instruction(_JUMP_EQUAL, 1, 0, socket),
            _Instruction(_RETURN, 0, 0, _ALLOW),
            _Instruction(_LOAD_WORD, 0, 0, _FIRST_ARGUMENT_OFFSET),
            _Instruction(_JUMP_EQUAL, 0, 1, _AF_UNIX),
            _Instruction(_RETURN, 0, 0, _ALLOW),
            _Instruction(_RETURN, 0, 0, _REFUSE),
        )


def _refuse_calls(architecture: int, calls: tuple[int, ...]) -> None:
    program = _of_architecture(architecture)
    for distance, call in zip(range(len(calls), 0, -1), calls, strict=True):
        program.append(_Instruction(_JUMP_EQUAL, distance, 0, call))
    _install(*program, _Instruction(_RETURN, 0, 0, _ALLOW), _Instruction(_RETURN, 0, 0, _REFUSE))


def _of_architecture(architecture: int) -> list[_Instruction]:
    """Ends calls of another architecture; leaves the call's number loaded."""
    return [
        _Instruction(_LOAD_WORD, 0, 0, _ARCH_OFFSET),
        _Instruction(_JUMP_EQUAL, 1, 0, architecture),
        _Instruction(_RETURN, 0, 0, _KILL),
        _Instruction(_LOAD_WORD, 0, 0, _NUMBER_OFFSET),
        _Instruction(_JUMP_AT_LEAST, 0, 1, _X32_CALLS),
        _Instruction(_RETURN, 0, 0, _KILL),
    ]


def _install(*program: _Instruction) -> None:
    """Installs a seccomp filter; where the kernel has none the process goes on without."""
    filters = (_Instruction * len(program))(*program)
    loaded = _Program(len(program), filters)
    _prctl(_PR_SET_NO_NEW_PRIVS, 1)
    _prctl(_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, ctypes.addressof(loaded))


def _prctl(option: int, *values: int) -> int:
    arguments = [ctypes.c_ulong(value) for value in (*values, *[0] * (4 - len(values)))]
    return ctypes.CDLL(None, use_errno=True).prctl(option, *arguments)
