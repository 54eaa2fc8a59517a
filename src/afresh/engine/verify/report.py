"""Tasks that end in a document. The harness can see that it is there, that nothing else was touched and that what it cites
exists; whether it is true it can't see, and says so."""

from collections.abc import Sequence
from functools import cache, partial

from afresh.domain.task import Task
from afresh.domain.verdict import Ruling, Verdict
from afresh.engine.verify.citations import find_absent_paths, find_citations, find_dead_citations
from afresh.engine.verify.summary import list_first_names, format_count
from afresh.errors import ModelMistake
from afresh.ports import ToolContext, FileTree

SPEC_DESIGN_TYPE = "spec_design"
"""The type that may speak of files that do not exist yet."""
MAX_LISTED_FAULTS = 5
DOCUMENT_CHECK_LIMITS = (
    "Checked: that the file is there, that nothing else is changed, that what it cites exists. Not verified: whether it is true."
)


def list_document_demands(task: Task) -> list[str]:
    """What the harness asks of the document."""
    if task.judged_as == SPEC_DESIGN_TYPE:
        return ["every `path:line` in it exists", "every `path` in backticks exists, or is marked `path` (new)"]
    return ["it cites at least one `path:line`, with the path from the root", "every `path:line` in it exists"]


def verify_document(bench: ToolContext, changed: Sequence[str], final: bool = False) -> Verdict:
    """After a step faults are told; at the end they refuse. Files beside the report are put back either way."""
    task = bench.state.task
    strays = tuple(path for path in changed if path != task.report)
    said, wrong = examine_document(bench) if task.report in changed else ("", describe_unwritten_document(bench) if final else "")
    aside = (
        f"put back, since a {task.judged_as} writes only {task.report}: {list_first_names(strays, MAX_LISTED_FAULTS)}"
        if strays
        else ""
    )
    open = f"still to mend: {wrong}" if wrong and not final else wrong
    reason = "; ".join(part for part in (aside, open or said) if part)
    failed = final and bool(strays or wrong)
    if not final or failed:
        return Verdict(Ruling.FAIL if failed else Ruling.PASS, reason, final=final, strays=strays)
    return Verdict(Ruling.PASS, f"{reason}; nothing else was changed. Whether it is true was not verified", final=True)


def examine_document(bench: ToolContext) -> tuple[str, str]:
    """What was found in the document, and what is wrong with it."""
    task, files = bench.state.task, bench.files
    text = read_text_or_empty(files, task.report)
    if not text.strip():
        return "", f"{task.report} is empty"
    paths = files.paths()
    cited = find_citations(text, paths)
    lost = list(find_dead_citations(cited, paths, cache(partial(count_lines, bench.files))))
    if task.judged_as == SPEC_DESIGN_TYPE:
        lost += find_absent_paths(text, paths)
    elif not cited:
        return "", f"{task.report} cites no `path:line`, so nobody can check what it says"
    if lost:
        return "", f"{task.report} cites what is not there: {list_first_names(lost, MAX_LISTED_FAULTS)}"
    return f"{task.report}: {format_count(len(cited), 'citation')}, each leads to lines that exist", ""


def describe_unwritten_document(bench: ToolContext) -> str:
    report = bench.state.task.report
    there = read_text_or_empty(bench.files, report)
    return f"{report} is as it was before the task, or git ignores it" if there else f"{report} does not exist"


def count_lines(files: FileTree, path: str) -> int:
    return len(read_text_or_empty(files, path).splitlines())


def read_text_or_empty(files: FileTree, path: str) -> str:
    """Nothing for what is not there or is no text."""
    try:
        return files.read(path)
    except (ModelMistake, OSError, UnicodeDecodeError):
        return ""
