"""`path:line: code message`, all in one line: ruff, flake8, pylint, mypy, pyright, gcc, clang, tsc, go, javac, maven."""

import re
from collections.abc import Iterator, Sequence

from afresh.engine.extract.complaint import NAME, Complaint, severity

LINE = re.compile(
    rf"^\s*(?:vet: |\[(?:ERROR|WARNING)\] )?(?:\./)?(?P<path>{NAME})"
    r"(?::\[?|\()(?P<line>\d+)(?:[:,](?P<column>\d+))?[\])]?:?(?:\s-)?\s+(?P<text>\S.*)$"
)
WHOLE = re.compile(rf"^(?P<path>{NAME}): (?P<text>error: .+)$")
"""Of a file as a whole."""
SPOKEN = re.compile(r"(?:fatal |internal )?(?:error|warning)\b|[A-Z]{1,4}\d{2,5}\b")
COMPILED = (".go", ".java", ".kt", ".scala")
"""Go says what is wrong without a word for how grave it is, maven says that word first."""


def one_line(lines: Sequence[str]) -> Iterator[Complaint]:
    """Notes belong to the line before them."""
    for number, line in enumerate(lines):
        if (match := LINE.match(line)) and grave(match, line):
            path, text = match["path"], match["text"].replace("[*] ", "", 1)
            yield Complaint(f"{path}:{match['line']}", text, number, number, severity(text) or unsaid(path, line))
        elif match := WHOLE.match(line):
            yield Complaint(match["path"], match["text"], number, number, "error")


def grave(match: re.Match[str], line: str) -> bool:
    if SPOKEN.match(match["text"]):
        return True
    return bool(match["column"]) and match["path"].endswith(COMPILED) and not line[0].isspace()


def unsaid(path: str, line: str) -> str:
    if "[WARNING]" in line:
        return "warning"
    return "error" if path.endswith(COMPILED) else ""
