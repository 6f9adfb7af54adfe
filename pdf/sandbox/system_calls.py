"""Numbers of Linux's system calls, and the calls that each kind of confined process may make.

Numbers: Linux 6.1, arch/x86/entry/syscalls/syscall_64.tbl and include/uapi/asm-generic/unistd.h.
"""

from __future__ import annotations

import ctypes
import functools
import platform

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


# What computing, allocating, threads and reading open files need. Nothing here names another process.
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
# Finding files by name. Landlock says which may be opened, and the filter that they are only read.
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
# What the process needs that confines those which open files; it opens none itself.
PREPARE = _names(
    """
    landlock_create_ruleset landlock_add_rule landlock_restrict_self setgroups setresgid setresuid
    capset memfd_create sendfile fcntl ioctl prctl prlimit64 kill tgkill
    """
)
# What LibreOffice needs beyond that: it is several programs, has a profile to write, and local sockets.
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
    """AUDIT_ARCH of this machine; None where the table has no column for it."""
    known = _ARCHITECTURES.get(platform.machine())
    return known[0] if known else None


@functools.cache
def numbers() -> dict[str, int]:
    """Number by name, of the calls this machine has. Raises KeyError on an architecture without a column."""
    column = _ARCHITECTURES[platform.machine()][1]
    rows = (entry.split() for entry in _TABLE.replace("\n", " ").split(";"))
    return {row[0]: int(row[column]) for row in rows if row[column] != "-"}


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
