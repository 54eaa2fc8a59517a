"""Change a file: replace text, append, or write all of it."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from itertools import islice
from typing import Any

from afresh.actions.tools.function_tool import FunctionTool, make_tool_schema
from afresh.context.file_chunks import find_block_end
from afresh.core.recognise_test_files import is_test_code
from afresh.core.redaction import REDACTED, redact_secrets
from afresh.core.step_result import ToolOutcome
from afresh.core.text import format_count
from afresh.core.truncate import join_first
from afresh.errors import ModelMistake
from afresh.ports.tool import ToolContext
from afresh.ports.workspace import FileTree, read_text

NOT_REPEATED_MARK = re.compile(r"^[^\S\n]*\[… \d+ lines not repeated.*\]$", re.MULTILINE)
"""What a prompt shows instead of the middle of a text that the model wrote: models copy what they see."""
TEST_LINE = re.compile(r"\s*(?:(?:async )?def|func|fn|function) ([Tt]est\w*)|\s*(?:it|test)\((['\"`])(.+?)\2")
MAX_NAMED_TESTS = 4
MARK, JOINT = "\udff0", "\udff1"
TORN_JOINT = re.compile(rf"(?<!{MARK}){JOINT}|{JOINT}(?![ \t]*{MARK})")
"""In the view that is edited: a hidden text, and a line break that may be inside of one, such as a key. No file can have these
characters."""


def edit_file(args: Mapping[str, Any], context: ToolContext) -> ToolOutcome:
    files, path, new = context.files, args["path"], args["new"]
    if NOT_REPEATED_MARK.search(new):
        raise ModelMistake("edit: a prompt shows that mark in place of lines; write out the lines themselves")
    before = read_text(files, path)
    if args.get("old") or ("old" in args and before is not None):
        told = replace_text(files, path, args["old"], new, max(1, args.get("count", 1)))
    else:
        (view, secrets), put = hide_secrets(before or ""), to_view(new)
        check_marks(view, put, path)
        write_view(files, path, put, secrets if MARK in put else ())
        told = f"{'made' if before is None else 'replaced'} {path} ({format_count(len(new.splitlines()), 'line')})\n{new}"
    if changed := find_changed_tests(path, before or "", read_text(files, path) or ""):
        head, rest, text = told.partition("\n")
        told = f"{head}; this changes the existing {join_first(changed, MAX_NAMED_TESTS)}{rest}{text}"
    return ToolOutcome(told)


def replace_text(files: FileTree, path: str, old: str, new: str, count: int = 1) -> str:
    """What was done. Empty `old` appends. The model edits the view that it is shown: `old` never matches what is hidden."""
    view, secrets = hide_secrets(files.read(path))
    removed, added, sought, put = old.splitlines(), new.splitlines(), to_view(old), to_view(new)
    if old == new:
        raise ModelMistake("edit: old and new are the same")
    check_marks(sought, put, path)
    if not old:
        write_view(files, path, view + ("" if view.endswith("\n") or not view else "\n") + put, secrets)
        told = f"{path}: {name_lines(len(show_marks(view).splitlines()) + 1, len(added))} appended"
        return "\n".join([told, *(f"+ {line}" for line in added)])
    if (found := view.count(sought)) != count:
        near = describe_copies(view, sought) if found else describe_nearest_line(show_marks(view), old)
        raise ModelMistake(f"edit: old occurs {found} times in {path}: {near}")
    parts, kept, left = view.split(sought), list[str](), iter(secrets)
    for number, part in enumerate(parts):
        inside = tuple(islice(left, sought.count(MARK))) if number else ()
        kept += [*(inside if MARK in put else ()), *islice(left, part.count(MARK))]
    write_view(files, path, put.join(parts), kept)
    first = show_marks(parts[0]).count("\n") + 1
    change = [*(f"- {line}" for line in removed), *(f"+ {line}" for line in added)]
    told = f"replaced (now {name_lines(first, len(added))})" if added else "removed"
    if count > 1:
        told = f"and {count - 1} more like it {'replaced' if added else 'removed'}"
    return "\n".join([f"{path}: {name_lines(first, len(removed))} {told}", *change])


def hide_secrets(text: str) -> tuple[str, list[str]]:
    """The view of a text, and what each mark in it hides, in order. Redaction leaves lines where they are."""
    shown, found = redact_secrets(text), list[str]()
    for real, line in zip(text.split("\n"), shown.split("\n"), strict=True):
        match = re.fullmatch("(.*?)".join(map(re.escape, line.split(REDACTED))), real)
        found += match.groups() if match else []
    return to_view(shown), found


def to_view(shown: str) -> str:
    """With marks of one character, of which no part can be matched, and which a line break joins if only they are between."""
    return re.sub(rf"(?<={MARK})\n(?=[ \t]*{MARK})", JOINT, shown.replace(REDACTED, MARK))


def show_marks(view: str) -> str:
    return view.replace(MARK, REDACTED).replace(JOINT, "\n")


def check_marks(old: str, new: str, path: str) -> None:
    """The new text has all marks of the old one, or none."""
    before, after = (re.sub(f"[^{MARK}{JOINT}]", "", text) for text in (old, new))
    if after not in ("", before):
        raise ModelMistake(
            f"edit: {REDACTED} hides a secret of {path}, which is kept where `new` has the mark too. The text that is replaced "
            f"has {format_count(before.count(MARK), 'such mark')}, `new` has {after.count(MARK)}: give as many, in the same "
            "order, with nothing new between marks on lines of their own"
        )


def write_view(files: FileTree, path: str, view: str, secrets: Sequence[str]) -> None:
    """With the hidden texts put back by their order. A prompt will show the result as the model wrote it, or nothing is written:
    other characters around a secret would show it."""
    first, *parts = view.replace(JOINT, "\n").split(MARK)
    text = first + "".join(f"{secret}{part}" for secret, part in zip(secrets, parts, strict=True))
    if TORN_JOINT.search(view) or redact_secrets(text) != redact_secrets(show_marks(view)):
        raise ModelMistake(
            f"edit: not done: this would show what {REDACTED} hides in {path}, or change it. Keep the characters around "
            f"{REDACTED} as they are; marks on lines that follow each other are kept or removed together"
        )
    files.write(path, text)


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


def describe_copies(text: str, old: str) -> str:
    places: list[str] = []
    position = text.find(old)
    while position >= 0 and len(places) < 5:
        places.append(str(show_marks(text[:position]).count("\n") + 1))
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
        "edit", "Replace `old`, there once or `count` times; empty: append. No `old`: write the file.",
        ("old", "count"), path="", old="", new="", count=("integer", ""),
    ),
    edit_file,
)  # fmt: skip
