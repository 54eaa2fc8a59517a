"""Change a file: replace text, append, or write all of it."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from typing import Any

from afresh.actions.tools.function_tool import FunctionTool, make_tool_schema
from afresh.context.file_chunks import find_block_end
from afresh.core.recognise_test_files import is_test_code
from afresh.core.redaction import REDACTED, redact_secrets
from afresh.core.step_result import ToolOutcome
from afresh.core.truncate import join_first
from afresh.core.verdict import format_count
from afresh.errors import ModelMistake
from afresh.ports.tool import ToolContext
from afresh.ports.workspace import FileTree

NOT_REPEATED_MARK = re.compile(r"^\s*\[… \d+ lines not repeated.*\]$", re.MULTILINE)
"""What a prompt shows instead of the middle of a text that the model wrote: models copy what they see."""
TEST_LINE = re.compile(r"\s*(?:(?:async )?def|func|fn|function) ([Tt]est\w*)|\s*(?:it|test)\((['\"`])(.+?)\2")
MAX_NAMED_TESTS = 4


def edit_file(args: Mapping[str, Any], context: ToolContext) -> ToolOutcome:
    files, path, new = context.files, args["path"], args["new"]
    if NOT_REPEATED_MARK.search(new):
        raise ModelMistake("edit: a prompt shows that mark in place of lines; write out the lines themselves")
    before = read_if_there(files, path)
    if args.get("old") or ("old" in args and before is not None):
        told = replace_text(files, path, args["old"], new, max(1, args.get("count", 1)))
    else:
        files.write(path, restore_secrets(new, choose_kept_secrets(new, list_secrets(before or ""), path)))
        told = f"{'made' if before is None else 'replaced'} {path} ({format_count(len(new.splitlines()), 'line')})\n{new}"
    if changed := find_changed_tests(path, before or "", files.read(path)):
        head, rest, text = told.partition("\n")
        told = f"{head}; this changes the existing {join_first(changed, MAX_NAMED_TESTS)}{rest}{text}"
    return ToolOutcome(told)


def read_if_there(files: FileTree, path: str) -> str | None:
    try:
        return files.read(path)
    except ModelMistake:
        return None


def replace_text(files: FileTree, path: str, old: str, new: str, count: int = 1) -> str:
    """What was done. Empty `old` appends. The text is looked for as prompts show it, with marks for secrets."""
    text = files.read(path)
    if old == new:
        raise ModelMistake("edit: old and new are the same")
    if not old:
        return append_lines(files, path, text, restore_secrets(new, choose_kept_secrets(new, (), path)))
    shown = redact_secrets(text)
    shown, secrets = (shown, list_secrets(text)) if old in shown else (text, [REDACTED] * text.count(REDACTED))
    if (found := shown.count(old)) != count:
        near = describe_copies(shown, old) if found else describe_nearest_line(shown, old)
        raise ModelMistake(f"edit: old occurs {found} times in {path}: {near}")
    parts, kept = shown.split(old), list[str]()
    for number, part in enumerate(parts):
        inside = old.count(REDACTED) if number else 0
        kept += [*choose_kept_secrets(new, secrets[:inside], path)] if number else []
        kept += secrets[inside : inside + part.count(REDACTED)]
        secrets = secrets[inside + part.count(REDACTED) :]
    files.write(path, restore_secrets(new.join(parts), kept))
    first, removed, added = parts[0].count("\n") + 1, old.splitlines(), new.splitlines()
    change = [*(f"- {line}" for line in removed), *(f"+ {line}" for line in added)]
    told = f"replaced (now {name_lines(first, len(added))})" if added else "removed"
    if count > 1:
        told = f"and {count - 1} more like it {'replaced' if added else 'removed'}"
    return "\n".join([f"{path}: {name_lines(first, len(removed))} {told}", *change])


def list_secrets(text: str) -> list[str]:
    """What each mark in the redacted text hides, in order. Redaction leaves lines where they are."""
    found = list[str]()
    for real, shown in zip(text.split("\n"), redact_secrets(text).split("\n"), strict=True):
        match = re.fullmatch("(.+?)".join(map(re.escape, shown.split(REDACTED))), real)
        found += match.groups() if match else []
    return found


def choose_kept_secrets(new: str, hidden: Sequence[str], path: str) -> Sequence[str]:
    """Those that the marks in the new text stand for: all that the old text hides, or none."""
    marks = new.count(REDACTED)
    if marks not in (0, len(hidden)):
        raise ModelMistake(
            f"edit: {REDACTED} hides a secret of {path}, which is kept where `new` has the mark too. The text that is replaced "
            f"has {format_count(len(hidden), 'such mark')}, `new` has {marks}: give as many, in the same order"
        )
    return hidden if marks else ()


def restore_secrets(shown: str, secrets: Sequence[str]) -> str:
    parts = shown.split(REDACTED)
    return parts[0] + "".join(f"{secret}{part}" for secret, part in zip(secrets, parts[1:], strict=True))


def find_changed_tests(path: str, before: str, after: str) -> list[str]:
    """Tests of the file of which the edit has left no copy as it was, each once: several may have the same name."""
    if not is_test_code(path):
        return []
    gone = Counter(list_tests(before.splitlines())) - Counter(list_tests(after.splitlines()))
    return list(dict.fromkeys(name for name, _ in gone))


def list_tests(lines: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Each test function by its name, with its lines. A function inside of one is a part of it, whatever its name."""
    end = 0
    for number, line in enumerate(lines, 1):
        if number > end and (match := TEST_LINE.match(line)):
            end = find_block_end(lines, number)
            yield match[1] or match[3], "\n".join(lines[number - 1 : end]).rstrip()


def name_lines(first: int, count: int) -> str:
    return f"lines {first}-{first + count - 1}" if count > 1 else f"line {first}"


def append_lines(files: FileTree, path: str, text: str, new: str) -> str:
    files.write(path, text + ("" if text.endswith("\n") or not text else "\n") + new)
    first, added = len(text.splitlines()) + 1, new.splitlines()
    return "\n".join([f"{path}: {name_lines(first, len(added))} appended", *(f"+ {line}" for line in added)])


def describe_copies(text: str, old: str) -> str:
    places: list[str] = []
    position = text.find(old)
    while position >= 0 and len(places) < 5:
        places.append(str(text[:position].count("\n") + 1))
        position = text.find(old, position + 1)
    return f"at lines {', '.join(places)}; add lines around it until it is unique, or give `count` to replace all of them"


def describe_nearest_line(text: str, old: str) -> str:
    """The line most like the first line of `old`, so that a slip in copying can be mended at once."""
    wanted = next((line for line in old.splitlines() if line.strip()), "").strip()
    lines = text.splitlines()
    if not lines or not wanted:
        return "copy it exactly from the file"
    scored = ((SequenceMatcher(None, wanted, line.strip()).ratio(), number) for number, line in enumerate(lines[:5000], 1))
    ratio, number = max(scored)
    return f"nearest is line {number}: {lines[number - 1]!r}" if ratio > 0.6 else "copy it exactly from the file"


tool = FunctionTool(
    make_tool_schema(
        "edit", "Replace `old`; `count` if not once. Empty: append; none: whole file.",
        ("old", "count"), path="", old="", new="", count=("integer", ""),
    ),
    edit_file,
)  # fmt: skip
