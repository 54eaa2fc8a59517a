"""Read an output with whatever understands it."""

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from afresh.engine.extract.builds import read_build
from afresh.engine.extract.cargo_run import read_cargo_run
from afresh.engine.extract.diagnostics import read_diagnostics
from afresh.engine.extract.generic import read_generic
from afresh.engine.extract.git import read_git
from afresh.engine.extract.go_events import read_go_events
from afresh.engine.extract.go_panic import read_go_panic
from afresh.engine.extract.go_run import read_go_run
from afresh.engine.extract.hits import read_hits, read_listing
from afresh.engine.extract.java_trace import read_java_trace
from afresh.engine.extract.jest_run import read_jest_run
from afresh.engine.extract.node_trace import read_node_trace
from afresh.engine.extract.output import Output, output_of, outputs_of
from afresh.engine.extract.prints import read_print, read_source
from afresh.engine.extract.pytest_run import read_pytest_run
from afresh.engine.extract.python_trace import read_python_trace
from afresh.engine.extract.reading import LONGEST, MOST, Reading, clipped
from afresh.engine.extract.rust_panic import read_rust_panic
from afresh.engine.extract.unittest_run import read_unittest_run
from afresh.engine.extract.vitest_run import read_vitest_run

Reader = Callable[[Output], Reading | None]
BY_COMMAND: Sequence[Reader] = (read_git, read_hits, read_source)
BY_OUTPUT: Sequence[Reader] = (
    read_pytest_run, read_unittest_run, read_jest_run, read_vitest_run, read_go_events, read_go_run, read_cargo_run,
    read_diagnostics, read_python_trace, read_node_trace, read_java_trace, read_go_panic, read_rust_panic, read_build,
    read_print,
)  # fmt: skip
"""In the order in which they are asked: what a test run says counts for more than a traceback in it, and what a log tells
for more than that it was printed."""
PLACE = re.compile(r"^(?:cd\s+\S+|export\s+\S+|source\s+\S+|set\s+-\S+)\s*(?:&&|;)\s*")
TAIL = re.compile(r"\s*(?:2>&1|2>/dev/null|\|\s*(?:head|tail|less|cat)\b[^|;&]*)\s*$")
LONGEST_COMMAND = 2_000


def read(tool: str, command: str, text: str) -> Reading:
    """What a tool printed; of `test` all its commands, one after the other."""
    if tool == "search":
        return read_one(output_of(text), (read_listing,))
    outputs = outputs_of(text) if tool == "test" else [output_of(text, command[:LONGEST_COMMAND])]
    readings = [read_one(output, (*BY_COMMAND, *BY_OUTPUT)) for output in outputs]
    return readings[0] if len(readings) == 1 else joined(readings)


def read_one(output: Output, readers: Sequence[Reader]) -> Reading:
    found = next((reading for reader in readers if (reading := reader(output))), None) or read_generic(output)
    return replace(found, failed=output.failed)


def joined(readings: Sequence[Reading]) -> Reading:
    """Of several commands; a run of tests is whole only if each was."""
    findings = sorted((finding for one in readings for finding in one.findings), key=lambda finding: -finding.confidence)
    fine, wrong = (frozenset[str]().union(*names) for names in zip(*[(one.fine, one.wrong) for one in readings], strict=True))
    runners = {one.runner for one in readings if one.runner}
    whole = len(runners) == 1 and all(one.complete for one in readings if one.runner)
    phrase = clipped("; ".join(clipped(one.phrase, LONGEST // len(readings)) for one in readings))
    failed = any(one.failed for one in readings)
    return Reading(phrase, tuple(findings[:MOST]), fine - wrong, wrong, whole, next(iter(runners)) if whole else "", failed)


def purpose(command: str) -> str:
    """What a command is for: without the way to its folder, without what only shortens its output, and of a script its head."""
    text = command.strip()
    while (shorter := PLACE.sub("", text, count=1)) != text:
        text = shorter
    first, *more = text.splitlines() or [""]
    first = first[:LONGEST_COMMAND]
    while (shorter := TAIL.sub("", first)) != first:
        first = shorter
    return clipped(first, 100) + (" …" if more and not first.endswith("…") else "")
