"""What a command that succeeded has answered: a value that it printed, the count of a test run, lines with a name that the
thought asks about. Remembered for search, not for every prompt."""

from collections.abc import Iterator, Sequence

from afresh.core.command_output import (
    CommandOutput,
    OutputReading,
    is_trivial_command,
    mask_volatile_names,
    truncate_to_one_line,
)
from afresh.core.fact import Fact, FactKind
from afresh.core.text import compile_name_pattern
from afresh.memory.history.names import find_names

ANSWER_CONFIDENCE = 0.7
"""Below what prompts show unasked."""
MAX_ANSWER_LINES = 3
"""Of a whole output that is short enough to be the answer itself."""
MAX_ASKED_LINES = 2
"""Of a longer one: lines that name what the thought names."""


def facts_from_answer(
    output: CommandOutput, reading: OutputReading, thought: str, source: str, block: str, step: int
) -> Iterator[Fact]:
    """At most two facts, each with the lines that say so. What is wrong is a finding, and told elsewhere."""
    if output.ended != "exit 0" or reading.findings or is_trivial_command(output.command):
        return
    source = mask_volatile_names(source)
    for subject, text, lines in _list_answers(output, reading, thought, source):
        told = mask_volatile_names(truncate_to_one_line(text))
        yield Fact(FactKind.OBSERVED, subject, told, ANSWER_CONFIDENCE, block, step, source, lines)


def _list_answers(
    output: CommandOutput, reading: OutputReading, thought: str, source: str
) -> Iterator[tuple[str, str, tuple[int, int]]]:
    rows = [place for place, line in enumerate(output.lines) if line.strip()]
    if reading.runner and rows:
        yield source, reading.phrase, output.span(rows[-1])
    elif 0 < len(rows) <= MAX_ANSWER_LINES:
        yield source, "; ".join(output.lines[place].strip() for place in rows), output.span(rows[0], rows[-1])
    else:
        for name, place in _find_asked_lines(output, rows, find_names(thought)):
            yield f"{name} in {source}", output.lines[place].strip(), output.span(place)


def _find_asked_lines(output: CommandOutput, rows: Sequence[int], names: Sequence[str]) -> list[tuple[str, int]]:
    """For each name the first line that has it, if few have: a name on every line answers nothing."""
    found = list[tuple[str, int]]()
    for name in names:
        whole = compile_name_pattern(name)
        naming = [place for place in rows if whole.search(output.lines[place])]
        if 0 < len(naming) <= MAX_ANSWER_LINES:
            found.append((name, naming[0]))
    return found[:MAX_ASKED_LINES]
