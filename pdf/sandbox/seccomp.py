"""Seccomp filters: allow-lists of system calls, some of them for certain arguments only.

A filter is a program of classic BPF (linux/filter.h, linux/seccomp.h). What it does not name is refused with
EPERM, or with ENOSYS where the C library then takes an older call. It holds for all later threads, forks and
programs; a further filter can only refuse more.
"""

from __future__ import annotations

import ctypes
import errno
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from pdf.sandbox import system_calls
from pdf.sandbox.system_calls import prctl

_PR_SET_NO_NEW_PRIVS = 38
_PR_SET_SECCOMP = 22
_SECCOMP_MODE_FILTER = 2

_LOAD_WORD, _AND, _RETURN = 0x20, 0x54, 0x06
_JUMP_EQUAL, _JUMP_GREATER, _JUMP_AT_LEAST = 0x15, 0x25, 0x35
_ALLOW, _KILL, _REFUSE = 0x7FFF0000, 0x80000000, 0x00050000
_NUMBER_OFFSET, _ARCH_OFFSET, _ARGUMENTS_OFFSET = 0, 4, 16  # struct seccomp_data, little endian
_X32_CALLS = 0x40000000
# Calls after this came with Linux 5.1 and later: C libraries try them and fall back on ENOSYS.
_LAST_OLD_CALL = 424

# open(2): anything but reading. O_WRONLY, O_RDWR, O_CREAT, O_TRUNC, O_APPEND, __O_TMPFILE.
_WRITING = 0o1 | 0o2 | 0o100 | 0o1000 | 0o2000 | 0o20000000
# clone(2): CLONE_NEWNS, _NEWCGROUP, _NEWUTS, _NEWIPC, _NEWUSER, _NEWPID, _NEWNET, _PTRACE, _PARENT.
_ESCAPING = (
    0x20000 | 0x2000000 | 0x4000000 | 0x8000000 | 0x10000000 | 0x20000000 | 0x40000000 | 0x2000 | 0x8000
)
_CLONE_THREAD = 0x10000
# fcntl(2): F_DUPFD, F_GETFD, F_SETFD, F_GETFL, F_SETFL, F_DUPFD_CLOEXEC, F_SETPIPE_SZ, F_GETPIPE_SZ.
# Not F_SETOWN, by which the kernel sends signals to any process.
_OWN_DESCRIPTORS = (0, 1, 2, 3, 4, 1030, 1031, 1032)
# ioctl(2): TCGETS, FIONREAD, FIONCLEX, FIOCLEX.
_HARMLESS_CONTROLS = (0x5401, 0x541B, 0x5450, 0x5451)
# prctl(2): PR_SET_NAME, and what a process confines its own forks with.
_PR_SET_PDEATHSIG, _PR_SET_NAME = 1, 15
_AF_UNIX = 1


class _Instruction(ctypes.Structure):
    _fields_ = [
        ("code", ctypes.c_ushort),
        ("jt", ctypes.c_ubyte),
        ("jf", ctypes.c_ubyte),
        ("k", ctypes.c_uint),
    ]


class _Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("filter", ctypes.POINTER(_Instruction))]


@dataclass(frozen=True, slots=True)
class When:
    """Allow ``call`` by one of its arguments, counted from 0.

    Attributes:
        values: the argument is one of these.
        without: no bit of this mask is set in it.
        of_mask: all bits of this mask are set in it.
        between: the argument is from the first to the second, both included.
    """

    call: str
    argument: int
    values: tuple[int, ...] = ()
    without: int = 0
    of_mask: int = 0
    between: tuple[int, int] | None = None

    def program(self) -> list[_Instruction]:
        """Return ALLOW where it applies; go on behind the program where it does not."""
        load = _Instruction(_LOAD_WORD, 0, 0, _ARGUMENTS_OFFSET + 8 * self.argument)
        allow = _Instruction(_RETURN, 0, 0, _ALLOW)
        tests: list[_Instruction] = [load]
        if self.without:
            tests += [_Instruction(_AND, 0, 0, self.without), _Instruction(_JUMP_EQUAL, 1, 0, 0), _refuse()]
        if self.of_mask:
            tests += [load, _Instruction(_AND, 0, 0, self.of_mask)]
            tests += [_Instruction(_JUMP_EQUAL, 1, 0, self.of_mask), _refuse()]
        if self.between:
            low, high = self.between
            tests += [_Instruction(_JUMP_AT_LEAST, 1, 0, low), _refuse()]
            tests += [_Instruction(_JUMP_GREATER, 0, 1, high), _refuse()]
        for value in self.values:
            tests += [_Instruction(_JUMP_EQUAL, 0, 1, value), allow]
        tests.append(_refuse() if self.values else allow)
        return tests


def reader_rules(process: int) -> list[When]:
    """What a process that opens hostile files may do with the calls that could reach others.

    ``process``: its own id. It may start threads and no process.
    """
    return [
        When("clone", 0, of_mask=_CLONE_THREAD, without=_ESCAPING),
        When("open", 1, without=_WRITING),
        When("openat", 2, without=_WRITING),
        When("fcntl", 1, values=_OWN_DESCRIPTORS),
        When("ioctl", 1, values=_HARMLESS_CONTROLS),
        When("prctl", 0, values=(_PR_SET_NAME,)),
        When("prlimit64", 0, values=(0, process)),
        When("sched_setaffinity", 0, values=(0, process)),
        When("kill", 0, values=(process,)),
        When("tgkill", 0, values=(process,)),
    ]


def file_process_rules(process: int) -> list[When]:
    """As for readers; and it forks readers, confines them, and ends them by their ids."""
    changed = [
        When("clone", 0, without=_ESCAPING),
        When(
            "prctl",
            0,
            values=(_PR_SET_NAME, _PR_SET_PDEATHSIG, _PR_SET_NO_NEW_PRIVS, _PR_SET_SECCOMP),
        ),
        When("kill", 0, between=(1, 0x7FFFFFFF)),
    ]
    names = {rule.call for rule in changed}
    return [*(rule for rule in reader_rules(process) if rule.call not in names), *changed]


def preparing_rules() -> list[When]:
    """The process that forks those which open files reads its modules and writes to its pipe only."""
    return [
        When("clone", 0, without=_ESCAPING),
        When("open", 1, without=_WRITING),
        When("openat", 2, without=_WRITING),
    ]


def office_rules() -> list[When]:
    """LibreOffice may start programs, and listen on local sockets; it connects to none."""
    return [
        When("clone", 0, without=_ESCAPING),
        When("socket", 0, values=(_AF_UNIX,)),
        When("socketpair", 0, values=(_AF_UNIX,)),
        When("prlimit64", 0, values=(0,)),
    ]


def allow_only(calls: Iterable[str], rules: Sequence[When] = ()) -> bool:
    """Confine this thread, and what it starts, to these calls. Return False where the kernel cannot.

    Without more than one thread: a filter holds for the thread that installs it.
    """
    architecture = system_calls.architecture()
    if architecture is None:
        return False
    return _install(_program(architecture, system_calls.numbers(), set(calls), rules))


def is_possible() -> bool:
    """Whether this machine has seccomp filters and we know its system calls."""
    return system_calls.architecture() is not None and prctl(21) >= 0  # PR_GET_SECCOMP


def _program(
    architecture: int, numbers: dict[str, int], calls: Collection[str], rules: Sequence[When]
) -> list[_Instruction]:
    program = [
        _Instruction(_LOAD_WORD, 0, 0, _ARCH_OFFSET),
        _Instruction(_JUMP_EQUAL, 1, 0, architecture),
        _Instruction(_RETURN, 0, 0, _KILL),
        _Instruction(_LOAD_WORD, 0, 0, _NUMBER_OFFSET),
        _Instruction(_JUMP_AT_LEAST, 0, 1, _X32_CALLS),
        _Instruction(_RETURN, 0, 0, _KILL),
    ]
    for number in sorted(numbers[call] for call in calls if call in numbers):
        program += [_Instruction(_JUMP_EQUAL, 0, 1, number), _Instruction(_RETURN, 0, 0, _ALLOW)]
    for rule in rules:
        if rule.call in numbers:
            tests = rule.program()
            program += [_Instruction(_JUMP_EQUAL, 0, len(tests), numbers[rule.call]), *tests]
    program += [_Instruction(_JUMP_GREATER, 0, 1, _LAST_OLD_CALL), _refuse(errno.ENOSYS), _refuse()]
    return program


def _refuse(reason: int = errno.EPERM) -> _Instruction:
    return _Instruction(_RETURN, 0, 0, _REFUSE | reason)


def _install(program: Sequence[_Instruction]) -> bool:
    filters = (_Instruction * len(program))(*program)
    loaded = _Program(len(program), filters)
    prctl(_PR_SET_NO_NEW_PRIVS, 1)
    return prctl(_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, ctypes.addressof(loaded)) == 0
