"""`path:line: code message`, all in one line: ruff, flake8, pylint, mypy, pyright, gcc, clang, tsc, go, javac, maven."""

import re
from collections.abc import Iterator, Sequence

from afresh.engine.extract.complaint import PATH_WITH_ENDING, Diagnostic, severity_from_text

ONE_LINE_DIAGNOSTIC = re.compile(
    rf"^\s*(?:vet: |\[(?:ERROR|WARNING)\] )?(?:\./)?(?P<path>{PATH_WITH_ENDING})"
    r"(?::\[?|\()(?P<line>\d+)(?:[:,](?P<column>\d+))?[\])]?:?(?:\s-)?\s+(?P<text>\S.*)$"
)
WHOLE_FILE_ERROR = re.compile(rf"^(?P<path>{PATH_WITH_ENDING}): (?P<text>error: .+)$")
"""Of a file as a whole."""
SEVERITY_OR_CODE = re.compile(r"(?:fatal |internal )?(?:error|warning)\b|[A-Z]{1,4}\d{2,5}\b")
COMPILED_ENDINGS = (".go", ".java", ".kt", ".scala")
"""Go says what is wrong without a word for how grave it is, maven says that word first."""


def parse_one_line_diagnostics(lines: Sequence[str]) -> Iterator[Diagnostic]:
    """Notes belong to the line before them."""
    for number, line in enumerate(lines):
        if (match := ONE_LINE_DIAGNOSTIC.match(line)) and is_diagnostic_line(match, line):
            path, text = match["path"], match["text"].replace("[*] ", "", 1)
            yield Diagnostic(
                f"{path}:{match['line']}", text, number, number, severity_from_text(text) or infer_severity(path, line)
            )
        elif match := WHOLE_FILE_ERROR.match(line):
            yield Diagnostic(match["path"], match["text"], number, number, "error")


def is_diagnostic_line(match: re.Match[str], line: str) -> bool:
    if SEVERITY_OR_CODE.match(match["text"]):
        return True
    return bool(match["column"]) and match["path"].endswith(COMPILED_ENDINGS) and not line[0].isspace()


def infer_severity(path: str, line: str) -> str:
    if "[WARNING]" in line:
        return "warning"
    return "error" if path.endswith(COMPILED_ENDINGS) else ""
