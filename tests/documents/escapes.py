# ruff: noqa: PTH101, PTH102, PTH104, PTH108, PTH208, PTH211, E501
"""What hostile code would try from within the process that opens a file: run there by ``test_sandbox``.

``attempts`` tries everything once, and says of each what came of it: '' where it succeeded, else the error.
"""

from __future__ import annotations

import ctypes
import errno
import json
import os
import platform
import resource
import signal
import socket
import threading
from collections.abc import Callable
from pathlib import Path

NUMBERS = {
    "x86_64": {
        "socket": 41, "socketpair": 53, "execve": 59, "execveat": 322, "ptrace": 101, "process_vm_readv": 310,
        "process_vm_writev": 311, "io_uring_setup": 425, "pidfd_open": 434, "pidfd_getfd": 438,
        "pidfd_send_signal": 424, "unlink": 87, "rename": 82, "truncate": 76, "chmod": 90, "symlink": 88,
        "add_key": 248, "keyctl": 250, "mount": 165, "unshare": 272, "setns": 308, "memfd_create": 319, "bpf": 321,
        "userfaultfd": 323, "perf_event_open": 298, "open_by_handle_at": 304, "shmget": 29, "mq_open": 240,
        "kexec_load": 246, "init_module": 175, "setuid": 105, "link": 86, "mkdir": 83, "chown": 92, "fork": 57,
        "clone3": 435, "openat2": 437, "setxattr": 188, "inotify_init1": 294, "chroot": 161, "setpriority": 141,
        "mknod": 133, "utimensat": 280, "fanotify_init": 300, "name_to_handle_at": 303,
    },
    "aarch64": {
        "socket": 198, "socketpair": 199, "execve": 221, "execveat": 281, "ptrace": 117, "process_vm_readv": 270,
        "process_vm_writev": 271, "io_uring_setup": 425, "pidfd_open": 434, "pidfd_getfd": 438,
        "pidfd_send_signal": 424, "add_key": 217, "keyctl": 219, "mount": 40, "unshare": 97, "setns": 268,
        "memfd_create": 279, "bpf": 280, "userfaultfd": 282, "perf_event_open": 241, "clone3": 435, "openat2": 437,
    },
}[platform.machine()]  # fmt: skip
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long


def call(name: str, *arguments: object) -> int:
    """The system call itself, past whatever the C library would do. Raises OSError."""
    if name not in NUMBERS:
        raise OSError(errno.ENOSYS, "this architecture has no such call")
    result = int(libc.syscall(ctypes.c_long(NUMBERS[name]), *arguments))
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result


def attempts(target: Path, worker: int) -> bytes:
    """``target``: a folder with a file 'mine' of our user. ``worker``: the process that asked."""
    mine = target / "mine"
    path = ctypes.c_char_p(str(mine).encode())
    other = ctypes.c_char_p(str(target / "other").encode())
    child = os.getppid()
    buffer = ctypes.create_string_buffer(256)
    inherited = pipes()
    tries: dict[str, Callable[[], object]] = {
        "socket by the library": lambda: socket.socket(),
        "unix socket": lambda: call("socket", 1, 1, 0),
        "netlink socket": lambda: call("socket", 16, 3, 0),
        "packet socket": lambda: call("socket", 17, 3, 0),
        "vsock": lambda: call("socket", 40, 1, 0),
        "socket pair": lambda: socket.socketpair(),
        "io_uring": lambda: call("io_uring_setup", 8, buffer),
        "pidfd_open": lambda: call("pidfd_open", worker, 0),
        "pidfd_getfd": lambda: call("pidfd_getfd", 0, 0, 0),
        "memory of the worker": lambda: os.open(f"/proc/{worker}/mem", os.O_RDWR),
        "memory of the worker, to read": lambda: os.open(f"/proc/{worker}/mem", os.O_RDONLY),
        "environment of the worker": lambda: Path(f"/proc/{worker}/environ").read_bytes(),
        "descriptors of the worker": lambda: os.listdir(f"/proc/{worker}/fd"),
        "command line of the worker": lambda: Path(f"/proc/{worker}/cmdline").read_bytes(),
        "memory of the child": lambda: os.open(f"/proc/{child}/mem", os.O_RDONLY),
        "maps of the worker": lambda: Path(f"/proc/{worker}/maps").read_bytes(),
        "reading another file": lambda: mine.read_bytes(),
        "listing a folder": lambda: os.listdir(target),
        "reading /etc/passwd": lambda: Path("/etc/passwd").read_bytes(),
        "listing processes": lambda: os.listdir("/proc"),
        "writing": lambda: mine.write_bytes(b"x"),
        "creating": lambda: os.open(target / "new", os.O_CREAT | os.O_RDONLY),
        "creating without a name": lambda: os.open("/tmp", os.O_TMPFILE | os.O_RDWR),
        "truncating as it is opened": lambda: os.open(mine, os.O_RDONLY | os.O_TRUNC),
        "openat2": lambda: call("openat2", -100, path, buffer, 24),
        "truncate": lambda: os.truncate(mine, 0),
        "unlink": lambda: os.unlink(mine),
        "rename": lambda: os.rename(mine, target / "moved"),
        "chmod": lambda: os.chmod(mine, 0o777),
        "chown": lambda: os.chown(mine, 0, 0),
        "symlink": lambda: os.symlink(mine, target / "link"),
        "link": lambda: os.link(mine, target / "hard"),
        "mkdir": lambda: os.mkdir(target / "folder"),
        "mknod": lambda: os.mkfifo(target / "fifo"),
        "utime": lambda: os.utime(mine, (1, 1)),
        "setxattr": lambda: call("setxattr", path, b"user.x\0", b"x", 1, 0),
        "unlink by number": lambda: call("unlink", path),
        "rename by number": lambda: call("rename", path, other),
        "signal to the worker": lambda: os.kill(worker, signal.SIGCONT),
        "signal to the child": lambda: os.kill(child, signal.SIGCONT),
        "signal to all": lambda: os.kill(-1, 0),
        "signal to the group": lambda: os.kill(0, 0),
        "signal by a pidfd": lambda: call("pidfd_send_signal", 0, 0, 0, 0),
        "signal by an owner of a pipe": set_owner_of_a_pipe,
        "ptrace": lambda: call("ptrace", 0x4206, worker, 0, 0),  # PTRACE_SEIZE
        "ptrace of the child": lambda: call("ptrace", 0x4206, child, 0, 0),
        "reading memory across": lambda: call("process_vm_readv", worker, buffer, 1, buffer, 1, 0),
        "writing memory across": lambda: call("process_vm_writev", child, buffer, 1, buffer, 1, 0),
        "limits of the worker": lambda: libc_fails(libc.prlimit(worker, 7, None, buffer)),
        "more processor time": lambda: resource.setrlimit(resource.RLIMIT_CPU, (10**6, -1)),
        "priority of the worker": lambda: os.setpriority(os.PRIO_PROCESS, worker, 5),
        "processors of the worker": lambda: os.sched_setaffinity(worker, {0}),
        "add_key": lambda: call("add_key", b"user\0", b"a\0", b"b", 1, -3),
        "keyctl": lambda: call("keyctl", 0, -3, 1),
        "mount": lambda: permitted(lambda: call("mount", b"none\0", b"/nowhere\0", b"tmpfs\0", 0, 0)),
        "unshare": lambda: call("unshare", 0x10000000),  # CLONE_NEWUSER
        "setns": lambda: call("setns", 0, 0),
        "chroot": lambda: permitted(lambda: os.chroot("/nowhere")),
        "setuid": lambda: os.setuid(0) if os.getuid() else call("setuid", 0),
        "memfd": lambda: os.memfd_create("program"),
        "exec": lambda: call("execve", b"/bin/true\0", None, None),
        "exec of a descriptor": lambda: call("execveat", 0, b"\0", None, None, 0x1000),
        "fork": fork,
        "fork by clone3": lambda: call("clone3", buffer, 64),
        "bpf": lambda: call("bpf", 0, buffer, 64),
        "userfaultfd": lambda: call("userfaultfd", 0),
        "perf_event_open": lambda: call("perf_event_open", buffer, 0, -1, -1, 0),
        "inotify": lambda: call("inotify_init1", 0),
        "shared memory": lambda: permitted(lambda: call("shmget", 1, 0, 0)),
        "message queue": lambda: permitted(lambda: call("mq_open", b"/\0", 0, 0, None)),
        "dumpable again": lambda: libc_fails(libc.prctl(4, 1, 0, 0, 0)),
        "outliving the parent": lambda: libc_fails(libc.prctl(1, 0, 0, 0, 0)),
        "more memory": lambda: len(bytearray(2**31)),
        "the way to the worker": lambda: [os.fstat(fd) for fd in inherited[1:]] or none_left(),
        "requests of others": lambda: 0 in pipes() or none_left(),
    }
    found = {name: outcome(attempt) for name, attempt in tries.items()}
    found["a thread"] = outcome(thread)
    return json.dumps(found).encode()


def outcome(attempt: Callable[[], object]) -> str:
    try:
        attempt()
    except Exception as error:
        return repr(error)
    return ""


def permitted(attempt: Callable[[], object]) -> None:
    """For calls that nobody should carry out: they fail for another reason where they are permitted."""
    try:
        attempt()
    except OSError as error:
        if error.errno in (errno.EPERM, errno.ENOSYS):
            raise


def libc_fails(result: int) -> None:
    if result < 0:
        raise OSError(ctypes.get_errno(), "refused")


def fork() -> None:
    if os.fork() == 0:
        os._exit(0)


def set_owner_of_a_pipe() -> None:
    import fcntl

    fcntl.fcntl(os.pipe()[0], 8, os.getppid())  # F_SETOWN


def pipes() -> list[int]:
    """Descriptors of pipes: a reader has the one it answers through."""
    found = []
    for descriptor in range(128):
        try:
            if os.fstat(descriptor).st_mode & 0o170000 == 0o010000:
                found.append(descriptor)
        except OSError:
            continue
    return found


def none_left() -> None:
    raise OSError(errno.ENOENT, "there is none")


def thread() -> None:
    done = threading.Event()
    threading.Thread(target=done.set).start()
    assert done.wait(10)
