"""A seccomp filter as bytes: system calls that no build or test needs and that lead out of a sandbox."""

import errno
import platform
import struct
from collections.abc import Sequence
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

# name: number on x86_64, number on aarch64 (None: it does not exist there)
_CALL_NUMBERS: dict[str, tuple[int, int | None]] = {
    "acct": (163, 89),
    "chmod": (90, None), "creat": (85, None), "fchmod": (91, 52), "fchmodat": (268, 53), "fchmodat2": (452, 452),
    "mknod": (133, None), "mknodat": (259, 33), "open": (2, None), "openat": (257, 56), "openat2": (437, 437),
    "fsetxattr": (190, 7), "lsetxattr": (189, 6), "setxattr": (188, 5), "setxattrat": (463, 463),
    "add_key": (248, 217), "adjtimex": (159, 171), "bpf": (321, 280), "chroot": (161, 51),
    "clock_adjtime": (305, 266), "clock_settime": (227, 112), "clone": (56, 220), "clone3": (435, 435), "connect": (42, 203),
    "delete_module": (176, 106), "fanotify_init": (300, 262), "finit_module": (313, 273), "fsconfig": (431, 431),
    "fsmount": (432, 432), "fsopen": (430, 430), "fspick": (433, 433), "init_module": (175, 105), "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427), "io_uring_setup": (425, 425), "ioctl": (16, 29), "ioperm": (173, None), "iopl": (172, None),
    "kcmp": (312, 272), "kexec_file_load": (320, 294), "kexec_load": (246, 104), "keyctl": (250, 219), "mount": (165, 40),
    "mount_setattr": (442, 442), "move_mount": (429, 429), "mq_open": (240, 180), "mq_unlink": (241, 181), "msgget": (68, 186),
    "name_to_handle_at": (303, 264), "open_by_handle_at": (304, 265), "open_tree": (428, 428), "perf_event_open": (298, 241),
    "pidfd_getfd": (438, 438), "pivot_root": (155, 41), "prlimit64": (302, 261), "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271), "ptrace": (101, 117), "quotactl": (179, 60), "quotactl_fd": (443, 443), "reboot": (169, 142),
    "request_key": (249, 218), "semget": (64, 190), "setdomainname": (171, 162), "sethostname": (170, 161), "setns": (308, 268),
    "settimeofday": (164, 170), "shmat": (30, 196), "shmget": (29, 194), "socket": (41, 198), "socketpair": (53, 199),
    "swapoff": (168, 225), "swapon": (167, 224), "syslog": (103, 116), "umount2": (166, 39), "unshare": (272, 97),
    "userfaultfd": (323, 282), "vhangup": (153, 58),
}  # fmt: skip
_MACHINES = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}

_FORBIDDEN_CALLS = (
    "acct", "add_key", "adjtimex", "bpf", "chroot", "clock_adjtime", "clock_settime", "delete_module", "fanotify_init",
    "finit_module", "fsconfig", "fsmount", "fsopen", "fspick", "init_module", "io_uring_enter", "io_uring_register",
    "io_uring_setup", "ioperm", "iopl", "kexec_file_load", "kexec_load", "keyctl", "mount", "mount_setattr", "move_mount",
    "name_to_handle_at", "open_by_handle_at", "open_tree", "perf_event_open", "pivot_root", "quotactl", "quotactl_fd",
    "reboot", "request_key", "setdomainname", "sethostname", "setns", "settimeofday", "swapoff", "swapon", "syslog",
    "umount2", "unshare", "userfaultfd", "vhangup",
)  # fmt: skip

_FORBIDDEN_WITHOUT_NAMESPACES = (
    "setxattr", "lsetxattr", "fsetxattr", "setxattrat",
    "connect", "kcmp", "mq_open", "mq_unlink", "msgget", "pidfd_getfd", "process_vm_readv", "process_vm_writev", "ptrace",
    "semget", "shmat", "shmget",
)  # fmt: skip

_MODE_ARGUMENT_BY_CALL = {"chmod": 1, "fchmod": 1, "fchmodat": 2, "fchmodat2": 2, "mknod": 1, "mknodat": 2, "creat": 1}
_FLAGS_ARGUMENT_BY_CALL = {"open": 1, "openat": 2}
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


def build_filter(namespaces: bool, machine: str = "", root: bool = False) -> bytes | None:
    """The filter for this kind of machine, None where we have none. Without namespaces sockets and tracing go too."""
    known = _MACHINES.get(machine or platform.machine())
    if known is None:
        return None
    column, architecture = known
    steps = [
        _load_word(_ARCHITECTURE_OFFSET),
        _FilterInstruction(_EQUAL, architecture, then=1),
        _FilterInstruction(_RETURN, _KILL),
        _load_word(_CALL_NUMBER_OFFSET),
    ]
    steps += [_FilterInstruction(_AT_LEAST, _X32_CALL_BIT, otherwise=1), _refuse_call(errno.ENOSYS)]
    rules = _rules_for_all() | (_rules_with_namespaces() if namespaces else _rules_without_namespaces(root))
    for name, rule in rules.items():
        number = _CALL_NUMBERS[name][column]
        if number is not None:
            steps += [_FilterInstruction(_EQUAL, number, otherwise=len(rule) + 1), *rule, _load_word(_CALL_NUMBER_OFFSET)]
    return b"".join(step.packed() for step in [*steps, _FilterInstruction(_RETURN, _ALLOW)])


def _rules_for_all() -> dict[str, list[_FilterInstruction]]:
    """A file of the tree that runs as its owner would hand the user's rights, or root's, to anybody on the host."""
    rules = {name: [_refuse_call()] for name in _FORBIDDEN_CALLS}
    rules |= {"clone": _refuse_bits(0, _NEW_NAMESPACES), "ioctl": _refuse_values(1, _INJECT_INPUT)}
    rules |= {name: [_refuse_call(errno.ENOSYS)] for name in ("clone3", "openat2")}
    rules |= {name: _refuse_bits(place, _SET_ID_BITS) for name, place in _MODE_ARGUMENT_BY_CALL.items()}
    for name, place in _FLAGS_ARGUMENT_BY_CALL.items():
        mode = _refuse_bits(place + 1, _SET_ID_BITS)
        rules[name] = [_load_argument(place), _FilterInstruction(_ANY_BIT, _CREATE_FLAGS, otherwise=len(mode)), *mode]
    return rules


def _rules_with_namespaces() -> dict[str, list[_FilterInstruction]]:
    return {"socket": _allow_only(0, (_AF_UNIX, _AF_INET, _AF_INET6, _AF_NETLINK))}


def _rules_without_namespaces(root: bool) -> dict[str, list[_FilterInstruction]]:
    """A datagram socket of a pair can still be sent to a path, a stream cannot. Landlock knows nothing of modes and limits."""
    rules = {name: [_refuse_call()] for name in _FORBIDDEN_WITHOUT_NAMESPACES}
    rules |= {"socket": [_refuse_call(errno.EACCES)], "prlimit64": _allow_only(0, (0,))}
    rules["socketpair"] = _allow_only(0, (_AF_UNIX,)) + _allow_only(1, (_SOCK_STREAM, _SOCK_SEQPACKET), mask=0xF)
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


def _refuse_values(argument: int, values: Sequence[int]) -> list[_FilterInstruction]:
    tests: list[_FilterInstruction] = []
    for value in values:
        tests += [_FilterInstruction(_EQUAL, value, otherwise=1), _refuse_call()]
    return [_load_argument(argument), *tests]
