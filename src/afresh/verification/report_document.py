"""Tasks that end in a document. The harness can see that it is there, that nothing else was touched and that what it cites
exists; whether it is true it can't see, and says so."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from difflib import get_close_matches
from functools import cache, partial

from afresh.context.citations import PATH_PATTERN, Citation, find_citations, path_ending_from_name
from afresh.core.task import SPEC_DESIGN_TYPE
from afresh.core.text import format_count
from afresh.core.verdict import Ruling, Verdict, list_first_names
from afresh.ports.tool import ToolContext
from afresh.ports.workspace import FileTree, read_text

MAX_LISTED_FAULTS = 5


def verify_document(context: ToolContext, changed: Sequence[str], final: bool = False) -> Verdict:
    """After a step faults are told; at the end they refuse. Files beside the report are put back either way."""
    task = context.state.task
    strays = tuple(path for path in changed if path != task.report)
    said, wrong = (
        examine_document(context) if task.report in changed else ("", describe_unwritten_document(context) if final else "")
    )
    aside = (
        f"put back, since a {task.judged_as} writes only {task.report}: {list_first_names(strays, MAX_LISTED_FAULTS)}"
        if strays
        else ""
    )
    open = f"still to fix: {wrong}" if wrong and not final else wrong
    reason = "; ".join(part for part in (aside, open or said) if part)
    failed = final and bool(strays or wrong)
    if not final or failed:
        return Verdict(Ruling.FAIL if failed else Ruling.PASS, reason, final=final, strays=strays)
    return Verdict(Ruling.PASS, f"{reason}; nothing else was changed. Whether it is true was not verified", final=True)


def examine_document(context: ToolContext) -> tuple[str, str]:
    """What was found in the document, and what is wrong with it."""
    task, files = context.state.task, context.files
    text = read_text(files, task.report) or ""
    if not text.strip():
        return "", f"{task.report} is empty"
    paths = files.paths()
    cited = find_citations(text, paths)
    lost = list(find_dead_citations(cited, paths, cache(partial(count_lines, context.files))))
    if task.judged_as == SPEC_DESIGN_TYPE:
        lost += find_absent_paths(text, paths)
    elif not cited:
        return "", f"{task.report} cites no `path:line`, so nobody can check what it says"
    if lost:
        return "", f"{task.report} cites what is not there: {list_first_names(lost, MAX_LISTED_FAULTS)}"
    return f"{task.report}: {format_count(len(cited), 'citation')}, each leads to lines that exist", ""


def describe_unwritten_document(context: ToolContext) -> str:
    report = context.state.task.report
    there = read_text(context.files, report) or ""
    return f"{report} is as it was before the task, or git ignores it" if there else f"{report} does not exist"


def count_lines(files: FileTree, path: str) -> int:
    return len((read_text(files, path) or "").splitlines())


_QUOTED_PATH = re.compile(rf"`({PATH_PATTERN}/?)`(\s*\(new\b)?")
_CODE_FENCE = re.compile(r"^ {0,3}(```|~~~).*?^ {0,3}\1[^\n]*$", re.MULTILINE | re.DOTALL)
LineCounter = Callable[[str], int]
"""How many lines a file of the tree has."""


def find_dead_citations(cited: Iterable[Citation], paths: Iterable[str], lines: LineCounter) -> Iterator[str]:
    """The citations that lead nowhere, and why."""
    known = frozenset(paths)
    for one in cited:
        if one.path not in known:
            yield f"{one} ({describe_missing_path(one.path, known)})"
        elif one.last > (count := lines(one.path)) or not 1 <= one.first <= one.last:
            yield f"{one} (the file has {count} lines)"


def find_absent_paths(text: str, paths: Iterable[str]) -> Iterator[str]:
    """Paths in backticks that do not exist and are nowhere marked `(new)`."""
    known = frozenset(paths)
    places = known | {"/".join(path.split("/")[:depth]) for path in known for depth in range(1, path.count("/") + 1)}
    endings = {path_ending_from_name(path) for path in known} - {""}
    named = [(path.removeprefix("./").rstrip("/"), bool(new)) for path, new in _QUOTED_PATH.findall(_CODE_FENCE.sub("", text))]
    new = {path for path, marked in named if marked}
    for path in dict.fromkeys(path for path, _ in named):
        speaks_of_file = "/" in path and (path_ending_from_name(path) in endings or path.split("/")[0] in places)
        if speaks_of_file and path not in places and not any(path == one or path.startswith(f"{one}/") for one in new):
            yield f"{path} ({describe_missing_path(path, known)})"


def describe_missing_path(path: str, known: frozenset[str]) -> str:
    name = path.rpartition("/")[2]
    same = sorted(other for other in known if other.rpartition("/")[2] == name)
    near = same or get_close_matches(path, sorted(known), n=1, cutoff=0.7)
    return "no such file" + (f"; is it {near[0]}?" if near else "")
