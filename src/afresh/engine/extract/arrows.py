"""A heading, and in the next lines ` --> path:line:column`: rustc, cargo, clippy, and ruff in full."""

import re
from collections.abc import Iterator, Sequence

from afresh.engine.extract.complaint import PATH_WITH_ENDING, Diagnostic, severity_from_text

ARROW_LINE = re.compile(rf"^\s*--> (?P<path>{PATH_WITH_ENDING}):(?P<line>\d+)(?::\d+)?$")
ARROW_HEADING = re.compile(r"^(?:[a-z][\w-]{2,40}(?:\[[\w-]+\])?: |[A-Z]{1,4}\d{2,5} )\S")
ASIDE_HEADINGS = ("help: ", "note: ")
MAX_HEADING_LINES = 3
"""Lines that a heading may have before its arrow."""


def parse_arrow_diagnostics(lines: Sequence[str]) -> Iterator[Diagnostic]:
    heading = -MAX_HEADING_LINES - 1
    for number, line in enumerate(lines):
        if ARROW_HEADING.match(line):
            heading = number
        elif (
            (match := ARROW_LINE.match(line))
            and number - heading <= MAX_HEADING_LINES
            and not lines[heading].startswith(ASIDE_HEADINGS)
        ):
            text = " ".join(part.strip() for part in lines[heading:number]).replace("[*] ", "", 1)
            yield Diagnostic(f"{match['path']}:{match['line']}", text, heading, number, severity_from_text(text))
            heading = -MAX_HEADING_LINES - 1
