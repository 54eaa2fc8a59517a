"""Read an output with whatever understands it."""

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from afresh.engine.extract.builds import read_build_failure
from afresh.engine.extract.cargo_run import read_cargo_run
from afresh.engine.extract.diagnostics import read_diagnostics
from afresh.engine.extract.generic import read_unknown_output
from afresh.engine.extract.git import read_git
from afresh.engine.extract.go_events import read_go_events
from afresh.engine.extract.go_panic import read_go_panic
from afresh.engine.extract.go_run import read_go_run
from afresh.engine.extract.hits import read_search_hits, read_search_tool_output
from afresh.engine.extract.java_trace import read_java_traceback
from afresh.engine.extract.jest_run import read_jest_run
from afresh.engine.extract.node_trace import read_node_traceback
from afresh.engine.extract.output import CommandOutput, output_from_text, outputs_from_text
from afresh.engine.extract.prints import read_printed_files, read_printed_source
from afresh.engine.extract.pytest_run import read_pytest_run
from afresh.engine.extract.python_trace import read_python_traceback
from afresh.engine.extract.reading import MAX_FINDING_CHARACTERS, MAX_FINDINGS, OutputReading, truncate_to_one_line
from afresh.engine.extract.rust_panic import read_rust_panic
from afresh.engine.extract.unittest_run import read_unittest_run
from afresh.engine.extract.vitest_run import read_vitest_run

OutputReader = Callable[[CommandOutput], OutputReading | None]
READERS_BY_COMMAND: Sequence[OutputReader] = (read_git, read_search_hits, read_printed_source)
READERS_BY_OUTPUT: Sequence[OutputReader] = (
    read_pytest_run, read_unittest_run, read_jest_run, read_vitest_run, read_go_events, read_go_run, read_cargo_run,
    read_diagnostics, read_python_traceback, read_node_traceback, read_java_traceback, read_go_panic, read_rust_panic, read_build_failure,
    read_printed_files,
)  # fmt: skip
"""In the order in which they are asked: what a test run says counts for more than a traceback in it, and what a log tells
for more than that it was printed."""
COMMAND_PREAMBLE = re.compile(r"^(?:cd\s+\S+|export\s+\S+|source\s+\S+|set\s+-\S+)\s*(?:&&|;)\s*")
OUTPUT_FILTER_SUFFIX = re.compile(r"\s*(?:2>&1|2>/dev/null|\|\s*(?:head|tail|less|cat)\b[^|;&]*)\s*$")
MAX_COMMAND_CHARACTERS = 2_000


def read_output(tool: str, command: str, text: str) -> OutputReading:
    """What a tool printed; of `test` all its commands, one after the other."""
    if tool == "search":
        return read_single_output(output_from_text(text), (read_search_tool_output,))
    outputs = outputs_from_text(text) if tool == "test" else [output_from_text(text, command[:MAX_COMMAND_CHARACTERS])]
    readings = [read_single_output(output, (*READERS_BY_COMMAND, *READERS_BY_OUTPUT)) for output in outputs]
    return readings[0] if len(readings) == 1 else join_readings(readings)


def read_single_output(output: CommandOutput, readers: Sequence[OutputReader]) -> OutputReading:
    found = next((reading for reader in readers if (reading := reader(output))), None) or read_unknown_output(output)
    return replace(found, failed=output.failed)


def join_readings(readings: Sequence[OutputReading]) -> OutputReading:
    """Of several commands; a run of tests is whole only if each was."""
    findings = sorted((finding for one in readings for finding in one.findings), key=lambda finding: -finding.confidence)
    fine, wrong = (frozenset[str]().union(*names) for names in zip(*[(one.fine, one.wrong) for one in readings], strict=True))
    runners = {one.runner for one in readings if one.runner}
    whole = len(runners) == 1 and all(one.complete for one in readings if one.runner)
    phrase = truncate_to_one_line(
        "; ".join(truncate_to_one_line(one.phrase, MAX_FINDING_CHARACTERS // len(readings)) for one in readings)
    )
    failed = any(one.failed for one in readings)
    return OutputReading(
        phrase, tuple(findings[:MAX_FINDINGS]), fine - wrong, wrong, whole, next(iter(runners)) if whole else "", failed
    )


def purpose_from_command(command: str) -> str:
    """What a command is for: without the way to its folder, without what only shortens its output, and of a script its head."""
    text = command.strip()
    while (shorter := COMMAND_PREAMBLE.sub("", text, count=1)) != text:
        text = shorter
    first, *more = text.splitlines() or [""]
    first = first[:MAX_COMMAND_CHARACTERS]
    while (shorter := OUTPUT_FILTER_SUFFIX.sub("", first)) != first:
        first = shorter
    return truncate_to_one_line(first, 100) + (" …" if more and not first.endswith("…") else "")
