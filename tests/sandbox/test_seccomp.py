"""The filter, run step by step as the kernel would, for machines that the tests may not be on."""

import errno
import struct

import pytest

from afresh.sandbox.seccomp import build_filter

ARCHITECTURE = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
NUMBERS = {
    "x86_64": {"read": 0, "socket": 41, "socketpair": 53, "connect": 42, "clone": 56, "clone3": 435, "ptrace": 101, "mount": 165,
               "unshare": 272, "bpf": 321, "io_uring_setup": 425, "keyctl": 250, "ioctl": 16, "prlimit64": 302, "openat": 257},
    "aarch64": {"read": 63, "socket": 198, "socketpair": 199, "connect": 203, "clone": 220, "clone3": 435, "ptrace": 117,
                "mount": 40, "unshare": 97, "bpf": 280, "io_uring_setup": 425, "keyctl": 219, "ioctl": 29, "prlimit64": 261,
                "openat": 56},
}  # fmt: skip
ALLOWED, KILLED = 0x7FFF0000, 0x80000000


MODES = {
    "x86_64": {
        "chmod": (90, 1),
        "fchmod": (91, 1),
        "fchmodat": (268, 2),
        "fchmodat2": (452, 2),
        "mknodat": (259, 2),
        "creat": (85, 1),
    },
    "aarch64": {"fchmod": (52, 1), "fchmodat": (53, 2), "fchmodat2": (452, 2), "mknodat": (33, 2)},
}


def answer(program: bytes, architecture: int, number: int, *arguments: int) -> int:
    data = struct.pack("IIQ6Q", number, architecture, 0, *(arguments + (0,) * 6)[:6])
    steps, place, value = list(struct.iter_unpack("HBBI", program)), 0, 0
    while True:
        code, then, otherwise, operand = steps[place]
        place += 1
        if code == 0x20:
            value = struct.unpack_from("I", data, operand)[0]
        elif code == 0x54:
            value &= operand
        elif code == 0x06:
            return operand
        else:
            holds = {0x15: value == operand, 0x35: value >= operand, 0x45: bool(value & operand)}[code]
            place += then if holds else otherwise


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
@pytest.mark.parametrize("namespaces", [True, False])
def test_what_leads_out_is_refused_and_the_rest_is_allowed(machine: str, namespaces: bool) -> None:
    program, numbers = build_filter(namespaces, machine), NUMBERS[machine]
    assert program is not None

    def allowed(name: str, *arguments: int) -> bool:
        return answer(program, ARCHITECTURE[machine], numbers[name], *arguments) == ALLOWED

    assert allowed("read") and allowed("openat") and allowed("clone", 0x1200011) and allowed("ioctl", 0, 0x5401)
    assert not any(allowed(name) for name in ("mount", "unshare", "bpf", "io_uring_setup", "keyctl", "clone3"))
    assert not allowed("clone", 0x10000000) and not allowed("clone", 0x40000011) and not allowed("ioctl", 0, 0x5412)
    families = {family for family in range(64) if allowed("socket", family, 1)}
    assert families == ({1, 2, 10, 16} if namespaces else set())
    assert allowed("ptrace") == allowed("connect") == namespaces
    assert allowed("socketpair", 1, 0x80001) and allowed("socketpair", 1, 2) == namespaces
    assert allowed("prlimit64", 0) and allowed("prlimit64", 77) == namespaces


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
def test_calls_of_another_architecture_end_the_process(machine: str) -> None:
    assert answer(build_filter(True, machine) or b"", 0x40000003, 0) == KILLED


def test_the_x32_numbers_are_refused() -> None:
    assert answer(build_filter(True, "x86_64") or b"", ARCHITECTURE["x86_64"], 0x40000000 | 41) == 0x50000 | errno.ENOSYS


def test_a_machine_without_a_table_has_no_filter() -> None:
    assert build_filter(False, "s390x") is None


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
@pytest.mark.parametrize("namespaces", [True, False])
def test_no_file_can_be_made_to_run_as_its_owner(machine: str, namespaces: bool) -> None:
    program = build_filter(namespaces, machine)
    assert program is not None

    def allowed(number: int, *arguments: int) -> bool:
        return answer(program, ARCHITECTURE[machine], number, *arguments) == ALLOWED

    for number, place in MODES[machine].values():
        before = (0,) * place
        assert allowed(number, *before, 0o777) and not allowed(number, *before, 0o4755) and not allowed(number, *before, 0o2755)
    openat = NUMBERS[machine]["openat"]
    assert allowed(openat, 0, 0, 0, 0o4755), "the mode means nothing when no file is made"
    assert allowed(openat, 0, 0, 0o101, 0o666) and not allowed(openat, 0, 0, 0o101, 0o4755)


def test_without_namespaces_root_can_t_open_a_file_for_writing_by_others() -> None:
    program = build_filter(False, "x86_64", root=True)
    assert program is not None
    assert [answer(program, ARCHITECTURE["x86_64"], 90, 0, mode) == ALLOWED for mode in (0o755, 0o777, 0o664)] == [
        True,
        False,
        False,
    ]
