"""Reads what a command printed with the first reader that recognises it."""

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from afresh.core.command_output import (
    MAX_FINDING_CHARACTERS,
    MAX_FINDINGS,
    TELLING_LINE,
    CommandOutput,
    OutputFinding,
    OutputReading,
    mask_volatile_names,
    output_from_text,
    outputs_from_text,
    truncate_to_one_line,
)
from afresh.outputs.diagnostics import read_build_failure, read_diagnostics
from afresh.outputs.git import read_git
from afresh.outputs.printed_files import read_printed_files, read_printed_source, read_search_hits, read_search_tool_output
from afresh.outputs.printed_tests import read_test_run
from afresh.outputs.tracebacks import read_traceback

OutputReader = Callable[[CommandOutput], OutputReading | None]
READERS: Sequence[OutputReader] = (
    read_git,
    read_search_hits,
    read_printed_source,
    read_test_run,
    read_diagnostics,
    read_traceback,
    read_build_failure,
    read_printed_files,
)
"""In the order in which they are tried: a test run comes before a traceback in it, and what a log contains before the fact that
it was printed.
"""
COMMAND_PREAMBLE = re.compile(r"^(?:cd\s+\S+|export\s+\S+|source\s+\S+|set\s+-\S+)\s*(?:&&|;)\s*")
OUTPUT_FILTER_SUFFIX = re.compile(r"(?:(?<!\s)\s+)?(?:2>&1\s*|2>/dev/null\s*|\|\s*(?:head|tail|less|cat)\b[^|;&]*+)$")
MAX_COMMAND_CHARACTERS = 2_000


def read_output(command: str, text: str) -> OutputReading:
    """Return the reading of one command's output."""
    return read_single_output(output_from_text(text, command[:MAX_COMMAND_CHARACTERS]), READERS)


def read_outputs(text: str) -> OutputReading:
    """Return the reading of several commands' outputs, each after its echoed command line."""
    readings = [read_single_output(output, READERS) for output in outputs_from_text(text)]
    return readings[0] if len(readings) == 1 else join_readings(readings)


def read_search_output(text: str) -> OutputReading:
    """Return the reading of the `search` tool's output."""
    return read_single_output(output_from_text(text), (read_search_tool_output,))


ECHO_OR_PROGRESS_LINE = re.compile(r"\$ |exit \d+$|[.sxXFE]+ +\[ *\d+%\]$")


def is_echo_or_progress(line: str) -> bool:
    """Whether a line only shows what ran, that it ended, or its progress."""
    return ECHO_OR_PROGRESS_LINE.match(line) is not None


def read_single_output(output: CommandOutput, readers: Sequence[OutputReader]) -> OutputReading:
    output_reading = next((reading for reader in readers if (reading := reader(output))), None) or read_unknown_output(output)
    return replace(output_reading, failed=output.failed)


def find_last_line_naming(text: str, test: str) -> int:
    """The number of the last line of an output that names this test, and not one whose name only begins so; 0 if none does."""
    naming = re.compile(re.escape(test) + r"(?![\w\[])")
    return max((number for number, line in enumerate(text.splitlines(), 1) if naming.search(line)), default=0)


def join_readings(readings: Sequence[OutputReading]) -> OutputReading:
    """Return one reading for several commands; a test run is complete only if all of them are."""
    findings = sorted((finding for reading in readings for finding in reading.findings), key=lambda finding: -finding.confidence)
    fine, wrong = (
        frozenset[str]().union(*names) for names in zip(*[(reading.fine, reading.wrong) for reading in readings], strict=True)
    )
    runners = {reading.runner for reading in readings if reading.runner}
    whole = len(runners) == 1 and all(reading.complete for reading in readings if reading.runner)
    phrase = truncate_to_one_line(
        "; ".join(truncate_to_one_line(reading.phrase, MAX_FINDING_CHARACTERS // len(readings)) for reading in readings)
    )
    failed = any(reading.failed for reading in readings)
    return OutputReading(
        phrase, tuple(findings[:MAX_FINDINGS]), fine - wrong, wrong, whole, next(iter(runners)) if whole else "", failed
    )


def purpose_from_command(command: str) -> str:
    """Return a short form of a command: without `cd` and output filters; for a script, only its first line."""
    text = command.strip()
    while (shorter := COMMAND_PREAMBLE.sub("", text, count=1)) != text:
        text = shorter
    first, *more = text.splitlines() or [""]
    first = first[:MAX_COMMAND_CHARACTERS]
    while (shorter := OUTPUT_FILTER_SUFFIX.sub("", first)) != first:
        first = shorter
    return truncate_to_one_line(first, 100) + (" …" if more and not first.endswith("…") else "")


ADVICE_LINE = re.compile(r"\b[A-Z]\w{2,40}Warning: |^npm warn ")
"""Warnings for the program's author, which do not say how it ended."""
GENERIC_CONFIDENCE = 0.6
"""Confidence that the chosen line is the reason."""


def read_unknown_output(output: CommandOutput) -> OutputReading:
    """Return how a failed command ended and the line that says why; for others, the first significant line."""
    lines = [place for place, line in enumerate(output.lines) if line.strip()]
    telling = [
        place for place in lines if TELLING_LINE.search(output.lines[place]) and not ADVICE_LINE.search(output.lines[place])
    ]
    chosen = telling[-1] if output.failed and telling else next(iter(telling or lines), None)
    line = output.lines[chosen].strip() if chosen is not None else ""
    if not output.failed:
        return OutputReading(truncate_to_one_line(line or "no output"))
    text = truncate_to_one_line(f"{output.ended}: {line}" if line else output.ended)
    if chosen is None:
        return OutputReading(text)
    return OutputReading(text, (OutputFinding("", mask_volatile_names(text), GENERIC_CONFIDENCE, output.span(chosen)),))
