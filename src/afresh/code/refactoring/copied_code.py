"""Finds code that is to stay as it is: copied, adapted, vendored, generated, or marked so."""

import ast
import re
from functools import lru_cache

from afresh.code.python_source import PythonFunction, PythonSource
from afresh.code.refactoring.blocks import find_first_line
from afresh.code.refactoring.source_text import find_comments

VENDOR_FOLDERS = frozenset({"_vendor", "_vendored", "extern", "third_party", "thirdparty", "vendor", "vendored"})
GENERATED_FILE = re.compile(r"_pb2(_grpc)?\.pyi?$")
_COPIED = r"(?:adapted|backported|borrowed|copied|forked|ported|stolen|(?:is|was|been|code) taken)(?: \w+){0,2} from\b"
_OTHER = (
    r"\bbased on the (?:code|implementation)\b|\b(?:exact|modified|verbatim) copy of\b"
    r"|\bvendored\b|\bgenerated (?:\w+ )?by\b|\bdo not edit\b|(?-i:\bDO NOT MODIFY\b)"
)
MARK_IN_COMMENT = re.compile(
    rf"\b{_COPIED}|^#+ *taken from\b|{_OTHER}",
    re.IGNORECASE,
)
MARK_IN_DOCSTRING = re.compile(rf"(?:^|[.(\n])[^\S\n]*+(?:\w+ )?(?:{_COPIED}|taken from\b)|{_OTHER}", re.IGNORECASE)
"""In a sentence of its own: a docstring may also say that a value is taken from somewhere."""


def explain_copied_code(source: PythonSource, function: PythonFunction) -> str:
    """Return where the file, its class or the function itself is said to come from elsewhere; empty if nowhere."""
    if VENDOR_FOLDERS & set(source.path.split("/")[:-1]) or GENERATED_FILE.search(source.path):
        return "the file is vendored or generated"
    lines = (*_comment_lines_of(source, function), *_file_head(source))
    comments = find_comments(source.text)
    marked = next((line for line in lines if MARK_IN_COMMENT.search(comments.get(line, ""))), 0)
    if marked:
        return f"line {marked} says that the code comes from elsewhere, or is to stay as it is"
    described = (source.tree, *function.around, function.node)
    found = any(MARK_IN_DOCSTRING.search(ast.get_docstring(node) or "") for node in described)
    return "a docstring says that the code comes from elsewhere, or is to stay as it is" if found else ""


def _comment_lines_of(source: PythonSource, function: PythonFunction) -> list[int]:
    """Return the lines of the function, and of the comments above it and what it is in."""
    nodes = (*function.around, function.node)
    above = [line for node in nodes for line in _lines_of_comment_above(source, find_first_line(node))]
    return [*range(function.node.lineno, (function.node.end_lineno or 0) + 1), *above]


def _lines_of_comment_above(source: PythonSource, line: int) -> range:
    first = line
    while first > 1 and source.line(first - 1).lstrip().startswith("#"):
        first -= 1
    return range(first, line)


@lru_cache(maxsize=256)
def _file_head(source: PythonSource) -> range:
    """Return the lines before the first statement that is not the docstring."""
    body = source.tree.body[1:] if ast.get_docstring(source.tree) is not None else source.tree.body
    return range(1, body[0].lineno if body else len(source.lines) + 1)
