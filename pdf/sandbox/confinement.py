"""What a process that opens hostile files may do: compute, and read that one file.

Three layers, each of which holds where another is missing: an allow-list of system calls
(``sandbox.seccomp``), Landlock for files (``sandbox.landlock``), and where root starts it a user id of its
own, without capabilities. Resource limits bound memory, processor time and descriptors. ``weaknesses`` says
what this machine lacks of that; elsewhere than on Linux only the resource limits hold, and the rest is left
to the container.

The processes of a parse, from trusted to hostile: the worker; the child it starts (``confine``), which opens
no file; the file process that it forks for each request (``confine_to_files``), which lays out pages; and the
readers which that forks in turn (``confine_reader``), which open the file.
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
from pdf.sandbox.system_calls import (
    COMPUTE,
    LOOK_UP,
    OFFICE,
    PREPARE,
    WAIT,
    drop_capabilities,
    prctl,
    system_call,
)

# Landlock: which files a process and all it starts can reach (Linux 5.13 and later).
# Values: include/uapi/linux/landlock.h. What a version of the kernel does not know is left out.

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


_PR_SET_PDEATHSIG = 1
_PR_SET_DUMPABLE = 4
_PR_SET_CHILD_SUBREAPER = 36

_ROOT = Path(__file__).resolve().parent.parent.parent
# No account has this id; containers with user namespaces map the first 65,536.
SANDBOX_ID = 64_901
# What libraries look up while they load. Nothing of it differs between users of the machine.
_LIBRARIES = ("/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/local/lib", "/etc/ld.so.cache")
_MACHINE = ("/proc/cpuinfo", "/proc/meminfo", "/sys/devices/system/cpu", "/dev/null", "/dev/urandom")
# LibreOffice's fonts, configuration and character sets; user names, which it asks for. In /var/spool Debian
# keeps the cache of its extensions, which is there once root has run it; it ends where it cannot read that.
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
# Where Debian's tesseract-ocr-* packages put the data of a language.
TESSDATA = "/usr/share/tesseract-ocr/5/tessdata"
_own_statm: list[int] = []
_vmstat: list[int] = []
# Signals that nothing of ours sends to a process that reads a file, but operators and the kernel do.
FROM_OUTSIDE = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


def die_with_parent(parent: int, by: signal.Signals = signal.SIGKILL) -> None:
    """Have the kernel end this process when its parent ends; end now when it has ended already."""
    if sys.platform == "linux":
        prctl(_PR_SET_PDEATHSIG, by)
    if os.getppid() != parent:
        os._exit(1)


def adopt_orphans() -> None:
    """Become the parent of what our children leave running: ``is_alone`` knows of it."""
    if sys.platform == "linux":
        prctl(_PR_SET_CHILD_SUBREAPER, 1)


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


def hide_memory(hidden: bool = True) -> None:
    """Refuse debuggers, ``/proc/<pid>/mem`` and ``environ`` to processes of the same user; no core dumps."""
    if sys.platform == "linux":
        prctl(_PR_SET_DUMPABLE, int(not hidden))


def limit_memory(limit: int) -> None:
    """Limit address space in bytes. The hard limit stays, so that a later stage can ask for more."""
    hard = resource.getrlimit(resource.RLIMIT_AS)[1]
    resource.setrlimit(resource.RLIMIT_AS, (limit if hard < 0 else min(limit, hard), hard))


def limit_memory_for_good(limit: int) -> None:
    """Limit address space in bytes, also for what is started from now on."""
    limit_memory(limit)
    soft = resource.getrlimit(resource.RLIMIT_AS)[0]
    resource.setrlimit(resource.RLIMIT_AS, (soft, soft))


def address_space() -> int:
    """Bytes of address space this process has now; 0 where the system does not say.

    In a file process: of that process, also when one of its readers asks.
    """
    try:
        text = os.pread(_own_statm[0], 100, 0) if _own_statm else Path("/proc/self/statm").read_bytes()
        return int(text.split()[0]) * resource.getpagesize()
    except OSError:
        return 0


def killed_for_memory() -> int:
    """How many processes this system has killed for want of memory; 0 where it does not say."""
    try:
        text = os.pread(_vmstat[0], 1 << 16, 0) if _vmstat else Path("/proc/vmstat").read_bytes()
    except OSError:
        return 0
    _, found, rest = text.partition(b"\noom_kill ")
    return int(rest.split()[0]) if found else 0


def limit_cpu(seconds: float) -> None:
    """Limit CPU seconds from now on, of this process alone; then the kernel ends it with SIGXCPU."""
    spent = resource.getrusage(resource.RUSAGE_SELF)
    total = int(spent.ru_utime + spent.ru_stime + seconds) + 1
    resource.setrlimit(resource.RLIMIT_CPU, (total, resource.getrlimit(resource.RLIMIT_CPU)[1]))


def confine() -> None:
    """Leave the child, and all it forks, no network, no programs and no files but to read."""
    sys.dont_write_bytecode = True
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_NOFILE, (128, 128))
    hide_memory()
    others_can_read_the_program()  # remembered for the forks, which look no further than they may
    if sys.platform == "linux":
        seccomp.allow_only(COMPUTE | LOOK_UP | WAIT | PREPARE, seccomp.preparing_rules())


def confine_to_files(paths: Sequence[str]) -> list[str]:
    """Leave this process the program and these files, all to read. Return the paths to open them by."""
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
    """Leave this fork of a file process no forks, and nothing it could do to another process."""
    if sys.platform == "linux":
        seccomp.allow_only(COMPUTE | LOOK_UP, seccomp.reader_rules(os.getpid()))


def confine_office(program: str, folder: str) -> None:
    """Leave LibreOffice its program, ``folder`` to write to, and sockets of this machine only."""
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
        # Where LibreOffice listens for a second one, and ends when it cannot: in /var/tmp if it may not write
        # to /tmp.
        sockets=["/tmp", "/var/tmp"],
        may_execute=True,
    )
    seccomp.allow_only(COMPUTE | LOOK_UP | WAIT | OFFICE, seccomp.office_rules())


class Weakness(NamedTuple):
    """What the confinement lacks, for the administrator. ``is_open``: no other layer stands in for it."""

    message: str
    is_open: bool = True


def weaknesses() -> list[Weakness]:
    """What the confinement lacks on this machine."""
    if sys.platform != "linux":
        return [Weakness("Only Linux can confine the processes that open uploaded files: use a container.")]
    found: list[Weakness] = []
    if not seccomp.is_possible():
        said = "This kernel or processor has no seccomp filter for us: system calls are not limited."
        found.append(Weakness(said))
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
    """Whether an id that owns nothing can import our modules and their libraries."""
    return all(_others_can_read(Path(path)) for path in _program_files() if Path(path).exists())


def _others_can_read(path: Path) -> bool:
    path = path.resolve()
    needed = [(path, stat.S_IROTH)] + [(folder, stat.S_IXOTH) for folder in path.parents]
    return all(folder.stat().st_mode & bit for folder, bit in needed)


@functools.cache
def _program_files() -> Sequence[str]:
    """Our packages and what is imported from: not the folder of the project, in which data may lie."""
    packages = {str(init.parent) for init in _ROOT.glob("*/__init__.py")}
    libraries = {entry for entry in sys.path if entry and Path(entry).resolve() != _ROOT}
    return sorted(packages | libraries)


def _copied_to_memory(path: str) -> str:
    """A copy of the file that belongs to the confined user, as a path that only this process can open."""
    target = os.memfd_create("document", 0)
    with Path(path).open("rb") as source:
        rest = os.fstat(source.fileno()).st_size
        while rest and (sent := os.sendfile(target, source.fileno(), None, rest)):
            rest -= sent
    return f"/proc/self/fd/{target}"


def _become_nobody() -> None:
    """Become a user that owns nothing. The signal of the parent's death has to be asked for again."""
    with suppress(OSError):  # an id that this user namespace does not map
        os.setgroups([])
        os.setresgid(SANDBOX_ID, SANDBOX_ID, SANDBOX_ID)
        os.setresuid(SANDBOX_ID, SANDBOX_ID, SANDBOX_ID)
