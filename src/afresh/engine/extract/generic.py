"""Outputs of no known kind: how it ended, the line that says why, and the names in the other lines that speak of trouble."""

import re
from collections.abc import Sequence

from afresh.engine.extract.output import CommandOutput
from afresh.engine.extract.reading import OutputFinding, OutputReading, truncate_to_one_line, mask_volatile_names

TELLING_OUTPUT_LINE = re.compile(
    r"error|exception|fail|traceback|warning|assert|passed|no such|not found|refused|denied"
    r"|\*\*\*|unable|cannot|can't|unknown|invalid",
    re.IGNORECASE,
)
TROUBLE_LINE = re.compile(
    r"error|exception|fail|fatal|no such|not found|refused|denied|unable|cannot|can't|unknown|invalid", re.IGNORECASE
)
ADVICE_LINE = re.compile(r"\b[A-Z]\w{2,40}Warning: |^npm warn ")
"""Advice to whoever wrote the program, not how it went."""
PATH_OR_IDENTIFIER = re.compile(
    r"(?<![\w./-])(?:[\w.-]{1,60}/){1,12}[\w.-]{1,60}|\b[A-Za-z_]\w{0,60}\.[a-z]{1,4}\b|\b[A-Za-z]\w{0,60}_\w{1,60}\b"
)
"""A path, a file, or an identifier that is no word."""
MAX_TROUBLE_NAMES = 3
MAX_TROUBLE_LINES = 40
GENERIC_CONFIDENCE = 0.6
"""Names that are told; lines that are looked at for them; and how sure it is that this line says why."""


def read_unknown_output(output: CommandOutput) -> OutputReading:
    """How it ended if badly, and the line that says why; else the line that it begins with."""
    lines = [place for place, line in enumerate(output.lines) if line.strip()]
    telling = [
        place
        for place in lines
        if TELLING_OUTPUT_LINE.search(output.lines[place]) and not ADVICE_LINE.search(output.lines[place])
    ]
    chosen = telling[-1] if output.failed and telling else next(iter(telling or lines), None)
    line = output.lines[chosen].strip() if chosen is not None else ""
    if not output.failed:
        return OutputReading(truncate_to_one_line(line or "no output"))
    phrase = truncate_to_one_line(f"{output.ended}: {line}" if line else output.ended)
    if chosen is None:
        return OutputReading(phrase)
    others = find_trouble_names([output.lines[place] for place in telling], phrase)
    told = truncate_to_one_line(phrase + (f" ({', '.join(others)})" if others else ""))
    return OutputReading(told, (OutputFinding("", mask_volatile_names(told), GENERIC_CONFIDENCE, output.span(chosen)),))


def find_trouble_names(lines: Sequence[str], told: str) -> list[str]:
    """Those in lines that speak of trouble and not yet told."""
    troubled = [line[:300] for line in lines if TROUBLE_LINE.search(line)][-MAX_TROUBLE_LINES:]
    found = dict.fromkeys(name for line in troubled for name in PATH_OR_IDENTIFIER.findall(line))
    return [name for name in found if name not in told][:MAX_TROUBLE_NAMES]
