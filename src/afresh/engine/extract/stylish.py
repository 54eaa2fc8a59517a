"""A file, and below it `line:column  error  message  rule`: eslint and its like."""

import re
from collections.abc import Iterator, Sequence

from afresh.engine.extract.complaint import Diagnostic
from afresh.engine.extract.reading import mask_volatile_names

STYLISH_FILE = re.compile(r"^\S.*\.\w{1,6}$")
STYLISH_LINE = re.compile(r"^\s+(\d+):\d+\s+(error|warning)\s+(\S.*)$")


def parse_stylish_diagnostics(lines: Sequence[str]) -> Iterator[Diagnostic]:
    file = ""
    for number, line in enumerate(lines):
        if (match := STYLISH_LINE.match(line)) and file:
            message, gap, rule = match[3].rpartition("  ")
            said = f"{message.strip()} ({rule})" if gap and " " not in rule else match[3]
            yield Diagnostic(mask_volatile_names(f"{file}:{match[1]}"), f"{match[2]}: {said}", number, number, match[2])
        elif line:
            file = line if STYLISH_FILE.match(line) else ""
