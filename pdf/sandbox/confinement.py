"""Confine processes that open hostile files: they may compute, and read that one file.

Three independent layers: an allow-list of system calls (``sandbox.seccomp``), Landlock for files, and, when
started by root, a separate user id without capabilities. Resource limits bound memory, processor time and
descriptors. ``weaknesses`` lists the layers this machine lacks; outside Linux only the resource limits apply,
and the rest is left to the container.

The processes of a parse, from trusted to hostile: the worker; the child it starts (``confine``), which opens
no file; the file process that the child forks for each request (``confine_to_files``), which lays out pages;
and the readers that this forks in turn (``confine_reader``), which open the file.
"""

from __future__ import annotations

import ctypes
import functools
import os
import resource
import signal
import stat
import sys
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from pdf.sandbox import seccomp
from pdf.sandbox.seccomp import (
    COMPUTE,
    LOOK_UP,
    OFFICE,
    PREPARE,
    WAIT,
    drop_capabilities,
    prctl,
    system_call,
)

# Landlock restricts the files a process and its children can access (Linux 5.13 and later).
# Values: include/uapi/linux/landlock.h. Rights unknown to the kernel's version are left out.

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446  # the same on every architecture
_VERSION = 1
_RULE_PATH_BENEATH = 1
_PR_SET_NO_NEW_PRIVS = 38
_O_PATH = 0o10000000

_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
_REMOVE_FILE, _MAKE_SOCKET = 1 << 5, 1 << 9
_TRUNCATE, _IOCTL_DEV = 1 << 14, 1 << 15
_OF_FILES = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE | _IOCTL_DEV
# The access rights that each version (1 to 5) can refuse.
_KNOWN = {1: (1 << 13) - 1, 2: (1 << 14) - 1, 3: (1 << 15) - 1, 4: (1 << 15) - 1, 5: (1 << 16) - 1}
_TCP = 0b11  # bind, connect: version 4
_SCOPES = 0b11  # abstract Unix sockets, signals: version 6


class _Ruleset(ctypes.Structure):
    _fields_ = [("files", ctypes.c_uint64), ("network", ctypes.c_uint64), ("scoped", ctypes.c_uint64)]


class _PathBeneath(ctypes.Structure):
    _pack_ = 1
    _fields_ = [("access", ctypes.c_uint64), ("descriptor", ctypes.c_int32)]


def version() -> int:
    """Return the kernel's Landlock ABI version; 0 where it is missing or disabled."""
    return max(0, system_call(_CREATE_RULESET, None, ctypes.c_size_t(0), ctypes.c_uint32(_VERSION)))


def restrict_files(
    readable: Iterable[str | Path],
    writable: Iterable[str | Path] = (),
    *,
    sockets: Iterable[str | Path] = (),
    may_execute: bool = False,
) -> bool:
    """Restrict this process to these files and folders, recursively. Return False where it is impossible.

    Missing paths are ignored. ``sockets``: folders where sockets may be created and files removed. TCP,
    abstract sockets and signals to processes outside are refused, too, where the kernel can.
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


_PR_SET_PDEATHSIG = 1
_PR_SET_DUMPABLE = 4
_PR_SET_CHILD_SUBREAPER = 36

_ROOT = Path(__file__).resolve().parent.parent.parent
# No account has this id; containers with user namespaces map the first 65,536.
SANDBOX_ID = 64_901
# Files that libraries read while they load; they contain nothing private.
_LIBRARIES = ("/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/local/lib", "/etc/ld.so.cache")
_MACHINE = ("/proc/cpuinfo", "/proc/meminfo", "/sys/devices/system/cpu", "/dev/null", "/dev/urandom")
# LibreOffice's fonts, configuration and character sets, and user names. /var/spool has Debian's cache of its
# extensions once root has run it; LibreOffice exits when it cannot read that.
_OFFICE_FILES = (
    "/var/spool/libreoffice",
    *("/usr/bin", "/bin", "/usr/share", "/usr/libexec", "/etc/fonts", "/etc/libreoffice", "/etc/passwd"),
    *(
        "/etc/group",
        "/etc/nsswitch.conf",
        "/etc/localtime",
        "/etc/alternatives",
        "/opt",
        "/proc/self",
        "/proc/stat",
    ),
    *("/proc/sys/vm/overcommit_memory", "/proc/version", "/var/cache/fontconfig", "/dev/random", "/dev/zero"),
)
# The folder of Debian's tesseract-ocr-* packages.
TESSDATA = "/usr/share/tesseract-ocr/5/tessdata"
_own_statm: list[int] = []
_vmstat: list[int] = []
# Signals that only operators and the kernel send to a process that reads a file.
FROM_OUTSIDE = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


def die_with_parent(parent: int, by: signal.Signals = signal.SIGKILL) -> None:
    """Let the kernel end this process when its parent ends; exit now when it has ended already."""
    if sys.platform == "linux":
        prctl(_PR_SET_PDEATHSIG, by)
    if os.getppid() != parent:
        os._exit(1)


def adopt_orphans() -> None:
    """Become the parent of orphaned descendants, so that ``is_alone`` sees them."""
    if sys.platform == "linux":
        prctl(_PR_SET_CHILD_SUBREAPER, 1)


def is_alone(seconds: float) -> bool:
    """Return whether all children, including adopted ones, end within the time."""
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


def hide_memory(hidden: bool = True) -> None:
    """Refuse debuggers and ``/proc/<pid>/mem`` to processes of the same user; disable core dumps."""
    if sys.platform == "linux":
        prctl(_PR_SET_DUMPABLE, int(not hidden))


def limit_memory(limit: int) -> None:
    """Limit the address space in bytes. The hard limit stays, so that a later stage can raise it."""
    hard = resource.getrlimit(resource.RLIMIT_AS)[1]
    resource.setrlimit(resource.RLIMIT_AS, (limit if hard < 0 else min(limit, hard), hard))


def limit_memory_for_good(limit: int) -> None:
    """Limit the address space in bytes, also for child processes."""
    limit_memory(limit)
    soft = resource.getrlimit(resource.RLIMIT_AS)[0]
    resource.setrlimit(resource.RLIMIT_AS, (soft, soft))


def address_space() -> int:
    """Return the bytes of address space of this process; 0 where unknown.

    In a file process and its readers: of the file process.
    """
    try:
        text = os.pread(_own_statm[0], 100, 0) if _own_statm else Path("/proc/self/statm").read_bytes()
        return int(text.split()[0]) * resource.getpagesize()
    except OSError:
        return 0


def killed_for_memory() -> int:
    """Return the system's count of OOM kills; 0 where unknown."""
    try:
        text = os.pread(_vmstat[0], 1 << 16, 0) if _vmstat else Path("/proc/vmstat").read_bytes()
    except OSError:
        return 0
    _, found, rest = text.partition(b"\noom_kill ")
    return int(rest.split()[0]) if found else 0


_SECONDS_BEFORE_KILL = 10  # after SIGXCPU


def limit_cpu_for_good(seconds: float) -> None:
    """Limit this process to this many more CPU seconds, which it cannot raise: the kernel then kills it."""
    limit_cpu(seconds)
    soft = resource.getrlimit(resource.RLIMIT_CPU)[0]
    # SIGXCPU comes first, which says why; a signal may be late by seconds in long calls of a library.
    resource.setrlimit(resource.RLIMIT_CPU, (soft, soft + _SECONDS_BEFORE_KILL))


def limit_cpu(seconds: float) -> None:
    """Limit this process to this many more CPU seconds; the kernel then sends SIGXCPU.

    The hard limit, which ``limit_cpu_for_good`` sets, is kept.
    """
    spent = resource.getrusage(resource.RUSAGE_SELF)
    total = int(spent.ru_utime + spent.ru_stime + seconds) + 1
    hard = resource.getrlimit(resource.RLIMIT_CPU)[1]
    resource.setrlimit(resource.RLIMIT_CPU, (total if hard < 0 else min(total, hard), hard))


def confine() -> None:
    """Deny the child and its forks network, programs and writing of files."""
    sys.dont_write_bytecode = True
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_NOFILE, (128, 128))
    hide_memory()
    others_can_read_the_program()  # cached for the forks, which may not look
    if sys.platform == "linux":
        seccomp.allow_only(COMPUTE | LOOK_UP | WAIT | PREPARE, seccomp.preparing_rules())


def confine_to_files(paths: Sequence[str]) -> list[str]:
    """Restrict this process to reading the program and these files. Return the paths to open them by."""
    if sys.platform != "linux":
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
        return list(paths)
    _own_statm[:] = [os.open("/proc/self/statm", os.O_RDONLY)]
    with suppress(OSError):
        _vmstat[:] = [os.open("/proc/vmstat", os.O_RDONLY)]
    if os.geteuid() == 0:
        if others_can_read_the_program():
            paths = [_copied_to_memory(path) for path in paths]
            _become_nobody()
        drop_capabilities()
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    hide_memory()
    restrict_files([*_program_files(), *_LIBRARIES, *_MACHINE, TESSDATA, *paths])
    seccomp.allow_only(COMPUTE | LOOK_UP | WAIT, seccomp.file_process_rules(os.getpid()))
    return list(paths)


def confine_reader() -> None:
    """Deny this fork of a file process to fork or to affect another process."""
    if sys.platform == "linux":
        seccomp.allow_only(COMPUTE | LOOK_UP, seccomp.reader_rules(os.getpid()))


def confine_office(program: str, folder: str) -> None:
    """Restrict LibreOffice to its program, to writing in ``folder``, and to local sockets."""
    if sys.platform != "linux":
        return
    hide_memory()
    if os.geteuid() == 0:
        for path in (Path(folder), *Path(folder).rglob("*")):
            os.chown(path, SANDBOX_ID, SANDBOX_ID)
        _become_nobody()
        drop_capabilities()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    installed = Path(program).resolve().parent.parent.parent
    own = [installed] if installed != Path("/") else []
    restrict_files(
        [*_LIBRARIES, *_MACHINE, *_OFFICE_FILES, *own, program],
        [folder, "/dev/null"],
        # LibreOffice needs a socket for its single instance: in /var/tmp if it may not write to /tmp.
        sockets=["/tmp", "/var/tmp"],
        may_execute=True,
    )
    seccomp.allow_only(COMPUTE | LOOK_UP | WAIT | OFFICE, seccomp.office_rules())


class Weakness(NamedTuple):
    """A missing layer, for the administrator. ``is_open``: no other layer compensates for it."""

    message: str
    is_open: bool = True


def weaknesses() -> list[Weakness]:
    """Return the layers that this machine lacks."""
    if sys.platform != "linux":
        return [Weakness("Only Linux can confine the processes that open uploaded files: use a container.")]
    found: list[Weakness] = []
    if not seccomp.is_possible():
        message = "This kernel or processor has no seccomp filter for us: system calls are not limited."
        found.append(Weakness(message))
    if not version():
        found.append(
            Weakness(
                "This kernel has no Landlock (Linux 5.13, CONFIG_SECURITY_LANDLOCK, lsm=landlock):"
                " the process that opens uploaded files can read whatever its user can."
            )
        )
    elif version() < 6:
        found.append(
            Weakness(
                f"Landlock here is version {version()}. From version 6 on (Linux 6.12)"
                " it also keeps LibreOffice from sending signals to other processes of its user.",
                is_open=False,
            )
        )
    if os.geteuid() == 0 and not others_can_read_the_program():
        found.append(
            Weakness(
                "Pincite runs as root from a folder that other users cannot read: uploaded files are opened"
                " as root, without its capabilities. Run it as a user of its own, or install it elsewhere.",
                is_open=not version(),
            )
        )
    return found


@functools.cache
def others_can_read_the_program() -> bool:
    """Return whether a user id without files can import our modules and their libraries."""
    return all(_others_can_read(Path(path)) for path in _program_files() if Path(path).exists())


def _others_can_read(path: Path) -> bool:
    path = path.resolve()
    needed = [(path, stat.S_IROTH)] + [(folder, stat.S_IXOTH) for folder in path.parents]
    return all(folder.stat().st_mode & bit for folder, bit in needed)


@functools.cache
def _program_files() -> Sequence[str]:
    """Return our packages and the import path, without the project folder, which may contain data."""
    packages = {str(init.parent) for init in _ROOT.glob("*/__init__.py")}
    libraries = {entry for entry in sys.path if entry and Path(entry).resolve() != _ROOT}
    return sorted(packages | libraries)


def _copied_to_memory(path: str) -> str:
    """Copy the file to memory, owned by the confined user. Return a path only this process can open."""
    target = os.memfd_create("document", 0)
    with Path(path).open("rb") as source:
        rest = os.fstat(source.fileno()).st_size
        while rest and (sent := os.sendfile(target, source.fileno(), None, rest)):
            rest -= sent
    return f"/proc/self/fd/{target}"


def _become_nobody() -> None:
    """Switch to a user id without files. This clears PR_SET_PDEATHSIG, which must be set again."""
    with suppress(OSError):  # this user namespace does not map the id
        os.setgroups([])
        os.setresgid(SANDBOX_ID, SANDBOX_ID, SANDBOX_ID)
        os.setresuid(SANDBOX_ID, SANDBOX_ID, SANDBOX_ID)
