"""The filter, run step by step as the kernel would, for machines that tests may not be on, over the kernel's own table."""

import errno
import struct
from dataclasses import dataclass
from pathlib import Path

import pytest

from afresh.sandbox.seccomp import BY_ARGUMENTS, CALLS_BY_REASON, IN_NAMESPACES, build_filter, number_calls

ARCHITECTURE = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
ALLOWED, KILLED = 0x7FFF0000, 0x80000000
MODE_PLACES = {"chmod": 1, "fchmod": 1, "fchmodat": 2, "fchmodat2": 2, "mknodat": 2, "creat": 1}
PATHS, OPEN_PATHS, PROCESSES = [reason for reason in CALLS_BY_REASON if reason.startswith(("paths:", "processes:"))]
OF_ONESELF = {"setpriority": (0, 1), "ioprio_set": (1, 1)}
"""Which argument says that one process is meant, and the place of its number."""
BOTH = pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
EVERY = pytest.mark.parametrize("namespaces", [True, False])


@dataclass(frozen=True)
class KernelCall:
    number: int
    names: frozenset[str]
    """What it names beside descriptors: a path, a pid, a key."""


def read_kernel_table() -> dict[str, dict[str, KernelCall]]:
    table: dict[str, dict[str, KernelCall]] = {"x86_64": {}, "aarch64": {}}
    for line in (Path(__file__).parent / "system_calls.txt").read_text().splitlines():
        if not line.startswith("#"):
            *numbers, name, names = line.split()
            for machine, number in zip(table, numbers, strict=True):
                if number != "-":
                    table[machine][name] = KernelCall(int(number), frozenset(names.split("+")) - {"-"})
    return table


KERNEL = read_kernel_table()


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


def make_filter(namespaces: bool, machine: str, root: bool = False) -> bytes:
    program = build_filter(namespaces, machine, root)
    assert program is not None
    return program


@BOTH
def test_the_numbers_are_those_of_the_kernel(machine: str) -> None:
    known = number_calls(machine)
    assert {name: number for name, (number, _) in known.items()} == {name: KERNEL[machine][name].number for name in known}
    assert set(known) == {name for calls in CALLS_BY_REASON.values() for name in _names(calls)} & set(KERNEL[machine])


def _names(calls: str) -> list[str]:
    return [call.partition("=")[0] for call in calls.split()]


@BOTH
@EVERY
def test_a_call_is_allowed_for_a_reason_or_refused(machine: str, namespaces: bool) -> None:
    """All numbers, also of calls that no kernel has yet, with arguments that have no bit set and with all."""
    program, known = make_filter(namespaces, machine), number_calls(machine)
    reasons = {number: reason for number, reason in known.values()}
    existing = {call.number for call in KERNEL[machine].values()}
    for number in range(1_100):
        came = [answer(program, ARCHITECTURE[machine], number, *[bits] * 6) for bits in (0, 0xFFFFFFFF)]
        if number not in existing or number not in reasons:
            assert all(one >> 16 == 5 for one in came), number
            assert number < 300 or number in existing or came[0] & 0xFFFF == errno.ENOSYS
        elif reasons[number] == IN_NAMESPACES:
            assert (came == [ALLOWED] * 2) == namespaces and (namespaces or ALLOWED not in came)
        elif reasons[number] != BY_ARGUMENTS:
            assert came == [ALLOWED] * 2, number


@BOTH
def test_what_names_a_path_a_process_or_a_key_has_a_reason_that_says_who_decides(machine: str) -> None:
    allowed = {
        "path": {PATHS, OPEN_PATHS, BY_ARGUMENTS, IN_NAMESPACES},
        "pid": {PROCESSES, BY_ARGUMENTS, IN_NAMESPACES},
        "key": {IN_NAMESPACES},
    }
    for name, (_, reason) in number_calls(machine).items():
        for kind in KERNEL[machine][name].names:
            assert reason in allowed[kind], f"{name} takes a {kind}: {reason}"


@BOTH
@EVERY
def test_without_namespaces_only_a_process_itself_gets_another_priority_scheduler_or_processor(
    machine: str, namespaces: bool
) -> None:
    program, known = make_filter(namespaces, machine), number_calls(machine)
    taking = {name for name, (_, reason) in known.items() if reason == BY_ARGUMENTS and "pid" in KERNEL[machine][name].names}
    assert len(taking) == 7
    for name in taking:
        kind, place = OF_ONESELF.get(name, (0, 0))
        others = [(kind, 77), (kind + 1, 0)] if place else [(77,)]
        assert answer(program, ARCHITECTURE[machine], known[name][0], kind, 0) == ALLOWED
        for other in others:
            assert (answer(program, ARCHITECTURE[machine], known[name][0], *other) == ALLOWED) == namespaces


@BOTH
@EVERY
def test_arguments_decide(machine: str, namespaces: bool) -> None:
    program = make_filter(namespaces, machine)

    def allowed(name: str, *arguments: int) -> bool:
        return answer(program, ARCHITECTURE[machine], KERNEL[machine][name].number, *arguments) == ALLOWED

    assert allowed("clone", 0x1200011) and not allowed("clone", 0x10000000) and not allowed("clone", 0x40000011)
    terminal, pipe, share_blocks = 0x5401, 0x541B, 0x40049409
    assert all(allowed("ioctl", 0, request) for request in (terminal, pipe, 0x8912, share_blocks))
    typing, flags, make_volume, seal = 0x5412, 0x40086602, 0x5000940E, 0x40806685
    assert not any(allowed("ioctl", 0, request) for request in (typing, 0x541C, flags, make_volume, seal))
    families = {family for family in range(64) if allowed("socket", family, 1)}
    assert families == ({1, 2, 10, 16} if namespaces else set())
    assert allowed("socketpair", 1, 0x80001) and allowed("socketpair", 1, 2) == namespaces


@BOTH
def test_calls_of_another_architecture_end_the_process(machine: str) -> None:
    assert answer(build_filter(True, machine) or b"", 0x40000003, 0) == KILLED


def test_the_x32_numbers_are_refused() -> None:
    assert answer(build_filter(True, "x86_64") or b"", ARCHITECTURE["x86_64"], 0x40000000 | 41) == 0x50000 | errno.ENOSYS


def test_a_machine_without_a_table_has_no_filter() -> None:
    assert build_filter(False, "s390x") is None


@BOTH
@EVERY
def test_no_file_can_be_made_to_run_as_its_owner(machine: str, namespaces: bool) -> None:
    program = build_filter(namespaces, machine)
    assert program is not None

    def allowed(number: int, *arguments: int) -> bool:
        return answer(program, ARCHITECTURE[machine], number, *arguments) == ALLOWED

    for name, place in MODE_PLACES.items():
        if name not in KERNEL[machine]:
            continue
        number, before = KERNEL[machine][name].number, (0,) * place
        assert allowed(number, *before, 0o777) and not allowed(number, *before, 0o4755) and not allowed(number, *before, 0o2755)
    openat = KERNEL[machine]["openat"].number
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
