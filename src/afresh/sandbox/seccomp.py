"""A seccomp filter as bytes: the system calls that builds and tests need. Every other call, also one that a newer kernel adds, is
refused."""

import errno
import platform
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

_LOAD = 0x20
_EQUAL = 0x15
_AT_LEAST = 0x35
_ANY_BIT = 0x45
_AND = 0x54
_RETURN = 0x06
_ALLOW = 0x7FFF0000
_KILL = 0x80000000
_ERRNO = 0x00050000
_CALL_NUMBER_OFFSET = 0
_ARCHITECTURE_OFFSET = 4
_X32_CALL_BIT = 0x40000000
_NEW_NAMESPACES = 0x7E020000
_INJECT_INPUT = (0x5412, 0x541C)
_REQUEST_TYPE = 0xFF00
_TERMINALS_AND_SOCKETS = (0x5400, 0x8900)
_SHARE_BLOCKS_AND_READ_FLAGS = (0x40049409, 0x4020940D, 0xC020660B, 0x80086601, 0x801C581F)
"""Of the requests that a file system takes: others make volumes, seal or lock files, and Landlock is not asked."""

BY_ARGUMENTS = "its arguments decide"
IN_NAMESPACES = "what it names is the sandbox's own: only with namespaces"
# Why a call can be allowed, and its number on x86_64 and on aarch64, if it exists there; from 424 on they are the same.
# fmt: off
CALLS_BY_REASON = {
    "its own memory":
        "brk=12/214 get_mempolicy=239/236 madvise=28/233 map_shadow_stack=453 mbind=237/235 membarrier=324/283 "
        "memfd_create=319/279 mincore=27/232 mlock=149/228 mlock2=325/284 mlockall=151/230 mmap=9/222 mprotect=10/226 "
        "mremap=25/216 mseal=462 msync=26/227 munlock=150/229 munlockall=152/231 munmap=11/215 pkey_alloc=330/289 "
        "pkey_free=331/290 pkey_mprotect=329/288 remap_file_pages=216/234 set_mempolicy=238/237 set_mempolicy_home_node=450",
    "descriptors that it holds":
        "close=3/57 close_range=436 copy_file_range=326/285 dup=32/23 dup2=33 dup3=292/24 epoll_create=213 epoll_create1=291/20 "
        "epoll_ctl=233/21 epoll_pwait=281/22 epoll_pwait2=441 epoll_wait=232 eventfd=284 eventfd2=290/19 fadvise64=221/223 "
        "fallocate=285/47 fchdir=81/50 fchown=93/55 fcntl=72/25 fdatasync=75/83 flock=73/32 fstat=5/80 fstatfs=138/44 "
        "fsync=74/82 ftruncate=77/46 getdents=78 getdents64=217/61 getpeername=52/205 getsockname=51/204 getsockopt=55/209 "
        "io_cancel=210/3 io_destroy=207/1 io_getevents=208/4 io_pgetevents=333/292 io_setup=206/0 io_submit=209/2 lseek=8/62 "
        "pipe=22 pipe2=293/59 poll=7 ppoll=271/73 pread64=17/67 preadv=295/69 preadv2=327/286 pselect6=270/72 pwrite64=18/68 "
        "pwritev=296/70 pwritev2=328/287 read=0/63 readahead=187/213 readv=19/65 recvfrom=45/207 recvmmsg=299/243 "
        "recvmsg=47/212 select=23 sendfile=40/71 sendmmsg=307/269 sendmsg=46/211 sendto=44/206 setsockopt=54/208 "
        "shutdown=48/210 signalfd=282 signalfd4=289/74 splice=275/76 sync=162/81 sync_file_range=277/84 syncfs=306/267 "
        "tee=276/77 timerfd_create=283/85 timerfd_gettime=287/87 timerfd_settime=286/86 vmsplice=278/75 write=1/64 writev=20/66",
    "time, and facts of the machine":
        "clock_getres=229/114 clock_gettime=228/113 clock_nanosleep=230/115 getcpu=309/168 getrandom=318/278 getrusage=98/165 "
        "gettimeofday=96/169 nanosleep=35/101 sched_get_priority_max=146/125 sched_get_priority_min=147/126 sysinfo=99/179 "
        "time=201 times=100/153 uname=63/160",
    "itself":
        "alarm=37 arch_prctl=158 capget=125/90 capset=126/91 exit=60/93 exit_group=231/94 fork=57 futex=202/98 "
        "futex_requeue=456 futex_wait=455 futex_waitv=449 futex_wake=454 getcwd=79/17 getegid=108/177 geteuid=107/175 "
        "getgid=104/176 getgroups=115/158 getitimer=36/102 getpgrp=111 getpid=39/172 getppid=110/173 getresgid=120/150 "
        "getresuid=118/148 getrlimit=97/163 gettid=186/178 getuid=102/174 landlock_add_rule=445 landlock_create_ruleset=444 "
        "landlock_restrict_self=446 pause=34 personality=135/92 prctl=157/167 restart_syscall=219/128 rseq=334/293 "
        "rt_sigaction=13/134 rt_sigpending=127/136 rt_sigprocmask=14/135 rt_sigreturn=15/139 rt_sigsuspend=130/133 "
        "rt_sigtimedwait=128/137 sched_yield=24/124 seccomp=317/277 set_robust_list=273/99 set_tid_address=218/96 "
        "setfsgid=123/152 setfsuid=122/151 setgid=106/144 setgroups=116/159 setitimer=38/103 setregid=114/143 setresgid=119/149 "
        "setresuid=117/147 setreuid=113/145 setrlimit=160/164 setsid=112/157 setuid=105/146 sigaltstack=131/132 "
        "timer_create=222/107 timer_delete=226/111 timer_getoverrun=225/109 timer_gettime=224/108 timer_settime=223/110 "
        "umask=95/166 vfork=58",
    "paths: mounts or Landlock decide":
        "access=21 chdir=80/49 execve=59/221 execveat=322/281 faccessat=269/48 faccessat2=439 link=86 linkat=265/37 lstat=6 "
        "mkdir=83 mkdirat=258/34 newfstatat=262/79 readlink=89 readlinkat=267/78 rename=82 renameat=264/38 renameat2=316/276 "
        "rmdir=84 stat=4 statfs=137/43 statx=332/291 symlink=88 symlinkat=266/36 truncate=76/45 unlink=87 unlinkat=263/35",
    "paths: mounts decide, Landlock does not":
        "chown=92 fchownat=260/54 futimesat=261 lchown=94 utime=132 utimensat=280/88 utimes=235",
    "processes: the kernel decides whom it may signal and wait for; of others it is told a little":
        "getpgid=121/155 getpriority=140/141 getsid=124/156 ioprio_get=252/31 kill=62/129 pidfd_open=434 pidfd_send_signal=424 "
        "rt_sigqueueinfo=129/138 rt_tgsigqueueinfo=297/240 sched_getaffinity=204/123 sched_getattr=315/275 "
        "sched_getparam=143/121 sched_getscheduler=145/120 sched_rr_get_interval=148/127 setpgid=109/154 tgkill=234/131 "
        "tkill=200/130 wait4=61/260 waitid=247/95",
    BY_ARGUMENTS:
        "chmod=90 clone=56/220 creat=85 fchmod=91/52 fchmodat=268/53 fchmodat2=452 ioctl=16/29 ioprio_set=251/30 mknod=133 "
        "mknodat=259/33 open=2 openat=257/56 prlimit64=302/261 sched_setaffinity=203/122 sched_setattr=314/274 "
        "sched_setparam=142/118 sched_setscheduler=144/119 setpriority=141/140 socket=41/198 socketpair=53/199",
    IN_NAMESPACES:
        "accept=43/202 accept4=288/242 bind=49/200 connect=42/203 fgetxattr=193/10 flistxattr=196/13 fremovexattr=199/16 "
        "fsetxattr=190/7 getxattr=191/8 getxattrat=464 inotify_add_watch=254/27 inotify_init=253 inotify_init1=294/26 "
        "inotify_rm_watch=255/28 kcmp=312/272 lgetxattr=192/9 listen=50/201 listxattr=194/11 listxattrat=465 llistxattr=195/12 "
        "lremovexattr=198/15 lsetxattr=189/6 mq_getsetattr=245/185 mq_notify=244/184 mq_open=240/180 mq_timedreceive=243/183 "
        "mq_timedsend=242/182 mq_unlink=241/181 msgctl=71/187 msgget=68/186 msgrcv=70/188 msgsnd=69/189 pidfd_getfd=438 "
        "process_vm_readv=310/270 process_vm_writev=311/271 ptrace=101/117 removexattr=197/14 removexattrat=466 semctl=66/191 "
        "semget=64/190 semop=65/193 semtimedop=220/192 setxattr=188/5 setxattrat=463 shmat=30/196 shmctl=31/195 shmdt=67/197 "
        "shmget=29/194",
}
# fmt: on
_FIRST_COMMON_NUMBER = 424
_MACHINES = {"x86_64": (0, 0xC000003E, 335), "aarch64": (1, 0xC00000B7, 295)}
"""Place in the table, the kernel's name of it, and the first number that was given after 2018. Programs do without a newer call
if it is missing, which is another error than being refused."""

_MODE_ARGUMENT_BY_CALL = {"chmod": 1, "fchmod": 1, "fchmodat": 2, "fchmodat2": 2, "mknod": 1, "mknodat": 2, "creat": 1}
_FLAGS_ARGUMENT_BY_CALL = {"open": 1, "openat": 2}
_PROCESS_ARGUMENT_BY_CALL = {
    "prlimit64": 0, "sched_setaffinity": 0, "sched_setattr": 0, "sched_setparam": 0, "sched_setscheduler": 0, "setpriority": 1,
    "ioprio_set": 1,
}  # fmt: skip
_ONE_PROCESS_BY_CALL = {"setpriority": 0, "ioprio_set": 1}
"""What their first argument says when the second is a process, not a group or a user."""
_SET_ID_BITS = 0o6000
_OTHERS_WRITE_BITS = 0o022
_CREATE_FLAGS = 0o100 | 0o20000000

_AF_UNIX = 1
_AF_INET = 2
_AF_INET6 = 10
_AF_NETLINK = 16
_SOCK_STREAM = 1
_SOCK_SEQPACKET = 5


@dataclass(frozen=True, slots=True)
class _FilterInstruction:
    code: int
    value: int
    then: int = 0
    otherwise: int = 0

    def packed(self) -> bytes:
        return struct.pack("HBBI", self.code, self.then, self.otherwise, self.value)


_ALLOW_CALL = _FilterInstruction(_RETURN, _ALLOW)


def number_calls(machine: str) -> dict[str, tuple[int, str]]:
    """Number and reason of each call that can be allowed on this kind of machine."""
    column, found = _MACHINES[machine][0], dict[str, tuple[int, str]]()
    for reason, calls in CALLS_BY_REASON.items():
        for name, _, numbers in (call.partition("=") for call in calls.split()):
            listed = numbers.split("/")
            if len(listed) == 1 and int(listed[0]) >= _FIRST_COMMON_NUMBER:
                listed *= 2
            if column < len(listed):
                found[name] = int(listed[column]), reason
    return found


def build_filter(namespaces: bool, machine: str = "", root: bool = False) -> bytes | None:
    """The filter for this kind of machine, None where we have none. Without namespaces all goes that names what is not a file."""
    machine = machine or platform.machine()
    if machine not in _MACHINES:
        return None
    _, architecture, recent = _MACHINES[machine]
    calls = number_calls(machine)
    rules = _rules_for_all() | (_rules_with_namespaces() if namespaces else _rules_without_namespaces(root))
    plain = [
        number for name, (number, reason) in calls.items() if name not in rules and (namespaces or reason is not IN_NAMESPACES)
    ]
    steps = [
        _load_word(_ARCHITECTURE_OFFSET),
        _FilterInstruction(_EQUAL, architecture, then=1),
        _FilterInstruction(_RETURN, _KILL),
        _load_word(_CALL_NUMBER_OFFSET),
    ]
    steps += [_FilterInstruction(_AT_LEAST, _X32_CALL_BIT, otherwise=1), _refuse_call(errno.ENOSYS)]
    for name, rule in rules.items():
        if name in calls:
            steps += [_FilterInstruction(_EQUAL, calls[name][0], otherwise=len(rule) + 1), *rule, _ALLOW_CALL]
    for first, last in _join_ranges(sorted(plain)):
        steps += [_FilterInstruction(_AT_LEAST, first, otherwise=2), _FilterInstruction(_AT_LEAST, last + 1, then=1), _ALLOW_CALL]
    steps += [_FilterInstruction(_AT_LEAST, recent, otherwise=1), _refuse_call(errno.ENOSYS), _refuse_call()]
    return b"".join(step.packed() for step in steps)


def _join_ranges(numbers: Sequence[int]) -> Iterator[tuple[int, int]]:
    first = last = numbers[0]
    for number in numbers[1:]:
        if number != last + 1:
            yield first, last
            first = number
        last = number
    yield first, last


def _rules_for_all() -> dict[str, list[_FilterInstruction]]:
    """A file of the tree that runs as its owner would hand the user's rights, or root's, to anybody on the host."""
    rules = {"clone": _refuse_bits(0, _NEW_NAMESPACES), "ioctl": _allow_requests()}
    rules |= {name: _refuse_bits(place, _SET_ID_BITS) for name, place in _MODE_ARGUMENT_BY_CALL.items()}
    for name, place in _FLAGS_ARGUMENT_BY_CALL.items():
        mode = _refuse_bits(place + 1, _SET_ID_BITS)
        rules[name] = [_load_argument(place), _FilterInstruction(_ANY_BIT, _CREATE_FLAGS, otherwise=len(mode)), *mode]
    return rules


def _rules_with_namespaces() -> dict[str, list[_FilterInstruction]]:
    return {"socket": _allow_only(0, (_AF_UNIX, _AF_INET, _AF_INET6, _AF_NETLINK))}


def _rules_without_namespaces(root: bool) -> dict[str, list[_FilterInstruction]]:
    """A datagram socket of a pair can still be sent to a path, a stream cannot. Landlock knows nothing of modes, limits,
    priorities, attributes and watches. For attributes and watches the errors are those of a system that has none: tools go on."""
    rules = {
        name: [_refuse_call(errno.ENOTSUP)]
        for name in CALLS_BY_REASON[IN_NAMESPACES].replace("=", " ").split()
        if "xattr" in name
    }
    rules |= {name: [_refuse_call(errno.ENOSYS)] for name in ("inotify_init", "inotify_init1")}
    rules["socket"] = [_refuse_call(errno.EACCES)]
    rules["socketpair"] = _allow_only(0, (_AF_UNIX,)) + _allow_only(1, (_SOCK_STREAM, _SOCK_SEQPACKET), mask=0xF)
    for name, place in _PROCESS_ARGUMENT_BY_CALL.items():
        kind = _allow_only(0, (_ONE_PROCESS_BY_CALL[name],)) if name in _ONE_PROCESS_BY_CALL else []
        rules[name] = [*kind, *_allow_only(place, (0,))]
    if root:
        rules |= {
            name: _refuse_bits(place, _SET_ID_BITS | _OTHERS_WRITE_BITS)
            for name, place in _MODE_ARGUMENT_BY_CALL.items()
            if "chmod" in name
        }
    return rules


def _load_word(offset: int) -> _FilterInstruction:
    return _FilterInstruction(_LOAD, offset)


def _load_argument(index: int) -> _FilterInstruction:
    return _load_word(16 + 8 * index)


def _refuse_call(error: int = errno.EPERM) -> _FilterInstruction:
    return _FilterInstruction(_RETURN, _ERRNO | error)


def _refuse_bits(argument: int, bits: int) -> list[_FilterInstruction]:
    return [_load_argument(argument), _FilterInstruction(_ANY_BIT, bits, otherwise=1), _refuse_call()]


def _allow_only(argument: int, values: Sequence[int], mask: int = 0) -> list[_FilterInstruction]:
    """Refuse unless the argument is one of these."""
    masked = [_FilterInstruction(_AND, mask)] if mask else []
    tests = [_FilterInstruction(_EQUAL, value, then=len(values) - place) for place, value in enumerate(values)]
    return [_load_argument(argument), *masked, *tests, _refuse_call(errno.EACCES)]


def _allow_requests() -> list[_FilterInstruction]:
    """Of `ioctl`: those of terminals, pipes and sockets, but none that types for the user; and a few of files."""
    refused = [_FilterInstruction(_EQUAL, value, otherwise=1) for value in _INJECT_INPUT]
    steps = [_load_argument(1), *(step for test in refused for step in (test, _refuse_call()))]
    for value in _SHARE_BLOCKS_AND_READ_FLAGS:
        steps += [_FilterInstruction(_EQUAL, value, otherwise=1), _ALLOW_CALL]
    steps.append(_FilterInstruction(_AND, _REQUEST_TYPE))
    types = _TERMINALS_AND_SOCKETS
    steps += [_FilterInstruction(_EQUAL, value, then=len(types) - place) for place, value in enumerate(types)]
    return [*steps, _refuse_call(errno.ENOTTY)]
