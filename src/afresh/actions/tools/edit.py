"""Change a file: replace text that occurs once, append, or write all of it."""

from collections.abc import Mapping
from difflib import SequenceMatcher
from typing import Any

from afresh.actions.tools.function_tool import FunctionTool, make_tool_schema
from afresh.core.step_result import ToolOutcome
from afresh.core.verdict import format_count
from afresh.errors import ModelMistake
from afresh.ports.tool import ToolContext
from afresh.ports.workspace import FileTree


def edit_file(args: Mapping[str, Any], context: ToolContext) -> ToolOutcome:
    files, path, new = context.files, args["path"], args["new"]
    known = is_readable(files, path)
    if args.get("old") or ("old" in args and known):
        return ToolOutcome(replace_unique_text(files, path, args["old"], new))
    files.write(path, new)
    return ToolOutcome(f"{'replaced' if known else 'made'} {path} ({format_count(len(new.splitlines()), 'line')})\n{new}")


def is_readable(files: FileTree, path: str) -> bool:
    try:
        files.read(path)
    except ModelMistake:
        return False
    return True


def replace_unique_text(files: FileTree, path: str, old: str, new: str) -> str:
    """What was done. Empty `old` appends."""
    text = files.read(path)
    if old == new:
        raise ModelMistake("edit: old and new are the same")
    if not old:
        return append_lines(files, path, text, new)
    if (count := text.count(old)) != 1:
        raise ModelMistake(
            f"edit: old occurs {count} times in {path}: "
            + (describe_copies(text, old) if count else describe_nearest_line(text, old))
        )
    files.write(path, text.replace(old, new))
    first = text[: text.index(old)].count("\n") + 1
    removed, added = old.splitlines(), new.splitlines()
    change = [*(f"- {text}" for text in removed), *(f"+ {text}" for text in added)]
    told = f"replaced (now {name_lines(first, len(added))})" if added else "removed"
    return "\n".join([f"{path}: {name_lines(first, len(removed))} {told}", *change])


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
    return f"at lines {', '.join(places)}; add lines around it until it is unique"


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
        "edit", "Replace `old`, which occurs once. Empty `old`: append; none: whole file.",
        ("old",), path="", old="", new="",
    ),
    edit_file,
)  # fmt: skip
