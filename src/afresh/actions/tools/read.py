"""Look at lines of a file, at a folder, or at an archived output. Lines of files stay under "Files", read anew for every call, so
they are never stale."""

from collections import Counter
from collections.abc import Mapping, Sequence
from posixpath import normpath
from typing import Any

from afresh.actions.tools.archive import read_archive
from afresh.actions.tools.function_tool import FunctionTool, make_tool_schema
from afresh.context.file_chunks import describe_cut_function
from afresh.core.line_region import Region
from afresh.core.step_result import ToolOutcome
from afresh.core.text import format_count
from afresh.core.tool_traits import is_archive_address
from afresh.core.truncate import join_first
from afresh.errors import ModelMistake
from afresh.ports.tool import ToolContext

DEFAULT_LINE_COUNT = 80
MAX_LISTED_NAMES = 80
"""Lines of a file that are shown unless told; names of a folder."""


def read_path(args: Mapping[str, Any], context: ToolContext) -> ToolOutcome:
    path = args["path"].strip()
    try:
        lines = context.files.read(path).splitlines()
    except ModelMistake:
        folder = normpath(path)
        if paths_below := list_paths_below(folder, context.files.paths()):
            return ToolOutcome(render_folder(folder, paths_below))
        if is_archive_address(path):
            asked = "start" in args or "lines" in args
            return read_archive(path, find_asked_lines(args) if asked else None, context)
        raise
    return read_lines(path, lines, args, context)


def find_asked_lines(args: Mapping[str, Any]) -> tuple[int, int]:
    start = max(1, args.get("start", 1))
    return start, start + max(1, args.get("lines", DEFAULT_LINE_COUNT)) - 1


def read_lines(path: str, lines: Sequence[str], args: Mapping[str, Any], context: ToolContext) -> ToolOutcome:
    count, (start, end) = len(lines), find_asked_lines(args)
    if start > max(1, count):
        raise ModelMistake(f"{path} has only {count} lines")
    end = count if end > count or ("lines" not in args and count - end < DEFAULT_LINE_COUNT // 4) else end
    region = Region(path, start, end, context.state.work.step + 1)
    cut = describe_cut_function(lines, end)
    return ToolOutcome(f"{path}: lines {start}-{end} of {count}{cut}", regions=(region,))


def list_paths_below(folder: str, paths: Sequence[str]) -> list[str]:
    """Paths in the folder, relative to it; `.` is the root."""
    top = "" if folder == "." else f"{folder}/"
    return [path.removeprefix(top) for path in paths if path.startswith(top)]


def render_folder(folder: str, held: Sequence[str]) -> str:
    """Its folders, each with the number of files below it, then its files."""
    below = Counter(path.partition("/")[0] for path in held if "/" in path)
    folders = join_first([f"{name}/ ({format_count(count, 'file')})" for name, count in below.items()], MAX_LISTED_NAMES)
    files = join_first([path for path in held if "/" not in path], MAX_LISTED_NAMES)
    lines = [f"{folder}: {format_count(len(held), 'file')}", folders, files]
    return "\n".join(line for line in lines if line)


tool = FunctionTool(
    make_tool_schema(
        "read", f"{DEFAULT_LINE_COUNT} lines of a file, or folder, or output @id.", ("start", "lines"),
        path="", start=("integer", ""), lines=("integer", ""),
    ),
    read_path,
)  # fmt: skip
