"""Seccomp filters: allow-lists of system calls, some of them for certain arguments only.

A filter is a program of classic BPF (linux/filter.h, linux/seccomp.h). Other calls fail with EPERM, or with
ENOSYS where the C library then falls back to an older call. A filter applies to all later threads, forks and
programs; a further filter can only refuse more.
"""

from __future__ import annotations

import ctypes
import errno
import functools
import platform
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

# --- System calls: their numbers, and those that each kind of confined process may make ---
#
# Linux 6.1, arch/x86/entry/syscalls/syscall_64.tbl and include/uapi/asm-generic/unistd.h.

# Name, number on x86_64, number on aarch64 ('-': it has none).
_TABLE = """
read 0 63; write 1 64; close 3 57; fstat 5 80; lseek 8 62; mmap 9 222; mprotect 10 226; munmap 11 215;
brk 12 214; rt_sigaction 13 134; rt_sigprocmask 14 135; rt_sigreturn 15 139; pread64 17 67;
readv 19 65; writev 20 66; access 21 -; pipe 22 -; pipe2 293 59; select 23 -; pselect6 270 72;
poll 7 -; ppoll 271 73; sched_yield 24 124; mremap 25 216; madvise 28 233; dup 32 23; dup2 33 -;
dup3 292 24; nanosleep 35 101; clock_nanosleep 230 115; getpid 39 172; clone 56 220; exit 60 93;
exit_group 231 94; wait4 61 260; waitid 247 95; uname 63 160; fcntl 72 25; getdents64 217 61;
getcwd 79 17; readlink 89 -; readlinkat 267 78; stat 4 -; lstat 6 -; newfstatat 262 79; statx 332 291;
open 2 -; openat 257 56; getuid 102 174; geteuid 107 175; getgid 104 176; getegid 108 177;
getppid 110 173; gettid 186 178; getpgrp 111 -; getrusage 98 165; times 100 153; sysinfo 99 179;
getrlimit 97 163; setrlimit 160 164; prlimit64 302 261; prctl 157 167; arch_prctl 158 -;
sigaltstack 131 132; futex 202 98; set_robust_list 273 99; set_tid_address 218 96;
sched_getaffinity 204 123; sched_setaffinity 203 122; clock_gettime 228 113; clock_getres 229 114;
gettimeofday 96 169; time 201 -; getrandom 318 278; membarrier 324 283; rseq 334 293;
restart_syscall 219 128; tgkill 234 131; kill 62 129; ioctl 16 29; fadvise64 221 223; getcpu 309 168;
faccessat 269 48; faccessat2 439 439; close_range 436 436; clone3 435 435; socket 41 198;
socketpair 53 199; fork 57 -; vfork 58 -; execve 59 221; unlink 87 -; unlinkat 263 35; rename 82 -;
renameat 264 38; renameat2 316 276; mkdir 83 -; mkdirat 258 34; rmdir 84 -; ftruncate 77 46;
truncate 76 45; fallocate 285 47; fsync 74 82; fdatasync 75 83; chmod 90 -; fchmod 91 52;
fchmodat 268 53; umask 95 166; flock 73 32; link 86 -; symlink 88 -; linkat 265 37; symlinkat 266 36;
pwrite64 18 68; connect 42 203; bind 49 200; listen 50 201; accept 43 202; accept4 288 242;
getsockname 51 204; getpeername 52 205; getsockopt 55 209; setsockopt 54 208; sendto 44 206;
recvfrom 45 207; sendmsg 46 211; recvmsg 47 212; shutdown 48 210; eventfd2 290 19;
epoll_create1 291 20; epoll_ctl 233 21; epoll_wait 232 -; epoll_pwait 281 22; setpgid 109 154;
setsid 112 157; getsid 124 156; getpgid 121 155; statfs 137 43; fstatfs 138 44; utimensat 280 88;
chdir 80 49; fchdir 81 50; getresuid 118 148; getresgid 120 150; getgroups 115 158;
inotify_init1 294 26; inotify_add_watch 254 27; inotify_rm_watch 255 28; sched_getparam 143 121;
sched_getscheduler 145 120; sched_setscheduler 144 119; sched_get_priority_max 146 125;
sched_get_priority_min 147 126; setitimer 38 103; getitimer 36 102; alarm 37 -; timer_create 222 107;
timer_settime 223 110; timer_delete 226 111; msync 26 227; mlock 149 228; munlock 150 229;
memfd_create 319 279; copy_file_range 326 285; sendfile 40 71; shmget 29 194; shmat 30 196;
shmctl 31 195; shmdt 67 197; splice 275 76; rt_sigsuspend 130 133; rt_sigtimedwait 128 137;
getpriority 140 141; setpriority 141 140; capget 125 90; mincore 27 232; creat 85 -; chown 92 -;
fchown 93 55; lchown 94 -; fchownat 260 54; getxattr 191 8; lgetxattr 192 9; fgetxattr 193 10;
listxattr 194 11;
landlock_create_ruleset 444 444; landlock_add_rule 445 445; landlock_restrict_self 446 446; setgroups 116 159;
setresgid 119 149; setresuid 117 147; capset 126 91
"""
# AUDIT_ARCH_* of linux/audit.h, and the column of the table.
_ARCHITECTURES = {"x86_64": (0xC000003E, 1), "aarch64": (0xC00000B7, 2)}


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


# For computing, allocation, threads and reading open files. None of these affects another process.
COMPUTE = _names(
    """
    read write close fstat lseek mmap mprotect munmap brk mremap madvise rt_sigaction rt_sigprocmask
    rt_sigreturn sigaltstack pread64 readv writev pipe pipe2 select pselect6 poll ppoll sched_yield dup
    dup2 dup3 nanosleep clock_nanosleep getpid getppid gettid getuid geteuid getgid getegid getpgrp
    exit exit_group uname getdents64 getcwd getrusage times sysinfo arch_prctl futex set_robust_list
    set_tid_address sched_getaffinity clock_gettime clock_getres gettimeofday time getrandom membarrier
    rseq restart_syscall fadvise64 getcpu close_range getrlimit setrlimit
    """
)
# To find files by name. Landlock restricts which are opened, the filter that they are only read.
LOOK_UP = _names(
    """
    access readlink readlinkat stat lstat newfstatat statx faccessat faccessat2
    """
)
WAIT = _names(
    """
    wait4 waitid
    """
)
# For the process that confines those which open files.
PREPARE = _names(
    """
    landlock_create_ruleset landlock_add_rule landlock_restrict_self setgroups setresgid setresuid
    capset memfd_create sendfile fcntl ioctl prctl prlimit64 kill tgkill
    """
)
# For LibreOffice: it runs several programs, writes a profile, and uses local sockets.
OFFICE = _names(
    """
    fork vfork execve open openat creat unlink unlinkat rename renameat renameat2 mkdir mkdirat rmdir
    ftruncate truncate fallocate fsync fdatasync fchmod umask flock link symlink linkat
    symlinkat pwrite64 bind listen accept accept4 getsockname getpeername getsockopt setsockopt
    recvfrom recvmsg shutdown eventfd2 epoll_create1 epoll_ctl epoll_wait epoll_pwait
    getsid getpgid statfs fstatfs chdir fchdir getresuid getresgid getgroups inotify_init1
    inotify_add_watch inotify_rm_watch sched_getparam sched_getscheduler sched_get_priority_max
    sched_get_priority_min getitimer setitimer msync mlock munlock memfd_create copy_file_range
    sendfile rt_sigsuspend rt_sigtimedwait getpriority capget mincore fcntl ioctl prctl kill tgkill
    """
)


def architecture() -> int | None:
    """Return AUDIT_ARCH of this machine; None where the table has no column for it."""
    known = _ARCHITECTURES.get(platform.machine())
    return known[0] if known else None


@functools.cache
def numbers() -> dict[str, int]:
    """Return call numbers by name. Raises KeyError on an architecture without a column."""
    column = _ARCHITECTURES[platform.machine()][1]
    rows = (entry.split() for entry in _TABLE.replace("\n", " ").split(";"))
    return {row[0]: int(row[column]) for row in rows if row[column] != "-"}


_PR_CAPBSET_DROP = 24
_CAPABILITY_VERSION_3 = 0x20080522  # linux/capability.h


@functools.cache
def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def prctl(option: int, *values: int) -> int:
    """Return the result of prctl(2); -1 where it fails or does not exist."""
    arguments = [ctypes.c_ulong(value) for value in (*values, *[0] * (4 - len(values)))]
    try:
        return int(_libc().prctl(option, *arguments))
    except AttributeError:
        return -1


def system_call(number: int, *values: object) -> int:
    """Return the result of syscall(2); -1 where it fails."""
    return int(_libc().syscall(ctypes.c_long(number), *values))


def drop_capabilities() -> bool:
    """Drop all capabilities for good. Return False where it is impossible."""
    for capability in range(64):
        prctl(_PR_CAPBSET_DROP, capability)
    header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION_3, 0)
    none = (ctypes.c_uint32 * 6)()  # effective, permitted, inheritable, twice 32 bits
    try:
        return int(_libc().capset(header, none)) == 0
    except AttributeError:
        return False


# --- Filters ---

_PR_SET_NO_NEW_PRIVS = 38
_PR_SET_SECCOMP = 22
_SECCOMP_MODE_FILTER = 2

_LOAD_WORD, _AND, _RETURN = 0x20, 0x54, 0x06
_JUMP_EQUAL, _JUMP_GREATER, _JUMP_AT_LEAST = 0x15, 0x25, 0x35
_ALLOW, _KILL, _REFUSE = 0x7FFF0000, 0x80000000, 0x00050000
_NUMBER_OFFSET, _ARCH_OFFSET, _ARGUMENTS_OFFSET = 0, 4, 16  # struct seccomp_data, little endian
_X32_CALLS = 0x40000000
# Later calls came with Linux 5.1 and later: C libraries fall back to older ones on ENOSYS.
_LAST_OLD_CALL = 424

# open(2), any flag but for reading: O_WRONLY, O_RDWR, O_CREAT, O_TRUNC, O_APPEND, __O_TMPFILE.
_WRITE_FLAGS = 0o1 | 0o2 | 0o100 | 0o1000 | 0o2000 | 0o20000000
# clone(2): CLONE_NEWNS, _NEWCGROUP, _NEWUTS, _NEWIPC, _NEWUSER, _NEWPID, _NEWNET, _PTRACE, _PARENT.
_NAMESPACE_FLAGS = (
    0x20000 | 0x2000000 | 0x4000000 | 0x8000000 | 0x10000000 | 0x20000000 | 0x40000000 | 0x2000 | 0x8000
)
_CLONE_THREAD = 0x10000
# fcntl(2): F_DUPFD, F_GETFD, F_SETFD, F_GETFL, F_SETFL, F_DUPFD_CLOEXEC, F_SETPIPE_SZ, F_GETPIPE_SZ.
# Not F_SETOWN, which makes the kernel send signals to any process.
_OWN_DESCRIPTORS = (0, 1, 2, 3, 4, 1030, 1031, 1032)
# ioctl(2): TCGETS, FIONREAD, FIONCLEX, FIOCLEX.
_HARMLESS_CONTROLS = (0x5401, 0x541B, 0x5450, 0x5451)
# prctl(2): PR_SET_NAME, and those by which a process confines its forks.
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
    """Allow ``call`` depending on one of its arguments, counted from 0.

    Attributes:
        values: the argument is one of these.
        without: it has no bit of this mask.
        of_mask: it has all bits of this mask.
        between: it is in this range, inclusive.
    """

    call: str
    argument: int
    values: tuple[int, ...] = ()
    without: int = 0
    of_mask: int = 0
    between: tuple[int, int] | None = None

    def program(self) -> list[_Instruction]:
        """Return BPF instructions that allow the call where the rule applies, and refuse it otherwise."""
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
    """Return the rules of a process that opens hostile files: threads, but no processes.

    ``process``: its own id.
    """
    return [
        When("clone", 0, of_mask=_CLONE_THREAD, without=_NAMESPACE_FLAGS),
        When("open", 1, without=_WRITE_FLAGS),
        When("openat", 2, without=_WRITE_FLAGS),
        When("fcntl", 1, values=_OWN_DESCRIPTORS),
        When("ioctl", 1, values=_HARMLESS_CONTROLS),
        When("prctl", 0, values=(_PR_SET_NAME,)),
        When("prlimit64", 0, values=(0, process)),
        When("sched_setaffinity", 0, values=(0, process)),
        When("kill", 0, values=(process,)),
        When("tgkill", 0, values=(process,)),
    ]


def file_process_rules(process: int) -> list[When]:
    """Return the rules of a file process: as for readers, but it may fork, confine and end them."""
    changed = [
        When("clone", 0, without=_NAMESPACE_FLAGS),
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
    """Return the rules of the child, which reads its modules and writes to its pipe."""
    return [
        When("clone", 0, without=_NAMESPACE_FLAGS),
        When("open", 1, without=_WRITE_FLAGS),
        When("openat", 2, without=_WRITE_FLAGS),
    ]


def office_rules() -> list[When]:
    """Return the rules of LibreOffice, which may start programs and listen on local sockets."""
    return [
        When("clone", 0, without=_NAMESPACE_FLAGS),
        When("socket", 0, values=(_AF_UNIX,)),
        When("socketpair", 0, values=(_AF_UNIX,)),
        When("prlimit64", 0, values=(0,)),
    ]


def allow_only(calls: Iterable[str], rules: Sequence[When] = ()) -> bool:
    """Restrict this thread and its children to these calls. Return False where it is impossible.

    Call it before other threads start: a filter applies to the installing thread.
    """
    machine = architecture()
    return machine is not None and _install(_program(machine, numbers(), set(calls), rules))


def is_possible() -> bool:
    """Return whether this machine supports seccomp filters and its call numbers are known."""
    return architecture() is not None and prctl(21) >= 0  # PR_GET_SECCOMP


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
