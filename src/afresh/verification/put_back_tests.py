"""Puts single statements and settings of tests back as they were at the base; other work in the same file stays."""

import ast
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from afresh.core.licences.licence_for_tests import Weakening
from afresh.verification.weakened_python_tests import (
    IMPORT_NODES,
    WeakenedStatement,
    find_weakened_python_tests,
    find_weakened_statements,
    list_bound_names,
    parse_without_docstrings,
)


@dataclass(frozen=True, slots=True)
class _Splice:
    """Lines of the file as it is now, from `start` up to `end`, that become others."""

    start: int
    end: int
    lines: tuple[str, ...]


def put_back_statements(path: str, base: str, now: str, wanted: Collection[Weakening]) -> str | None:
    """The file with these statements as at the base; None if they can't be put back alone."""
    try:
        found = [one for one in find_weakened_statements(path, base, now) if one.weakening in wanted]
        text = _restore_imports(base, _apply_splices(now, [_make_splice(one, base, now) for one in found]))
        left = find_weakened_python_tests(path, base, text)
    except (SyntaxError, ValueError, RecursionError):
        return None
    return None if {(one.name, one.told) for one in left} & {(one.name, one.told) for one in wanted} else text


def _make_splice(found: WeakenedStatement, base: str, now: str) -> _Splice:
    old, new = base.splitlines(), now.splitlines()
    if found.lost is None:
        assert found.instead is not None
        return _Splice(*_find_lines(found.instead), ())
    if found.instead is None:
        at = _find_place(found, base, now)
        gap = ("",) if found.scope else ("", "")
        below = gap if at < len(new) and new[at].strip() else ()
        return _Splice(at, at, (*gap, *_cut_lines(old, _find_lines(found.lost)), *below))
    if isinstance(found.lost, ast.ClassDef) and isinstance(found.instead, ast.ClassDef):
        return _Splice(*_find_head(found.instead, new), tuple(_cut_lines(old, _find_head(found.lost, old))))
    return _Splice(*_find_lines(found.instead), tuple(_cut_lines(old, _find_lines(found.lost))))


def _find_lines(statement: ast.stmt) -> tuple[int, int]:
    """From the first decorator to the end; the first line is 0."""
    decorators: Sequence[ast.expr] = getattr(statement, "decorator_list", [])
    return min([statement.lineno, *(one.lineno for one in decorators)]) - 1, statement.end_lineno or statement.lineno


def _find_head(statement: ast.ClassDef, lines: Sequence[str]) -> tuple[int, int]:
    """Decorators and the line or lines up to the colon."""
    parts = [statement.lineno, *(one.end_lineno or 0 for one in (*statement.bases, *(key.value for key in statement.keywords)))]
    end = max(parts)
    while end < len(lines) and not lines[end - 1].partition("#")[0].rstrip().endswith(":"):
        end += 1
    return _find_lines(statement)[0], end


def _cut_lines(lines: Sequence[str], span: tuple[int, int]) -> Sequence[str]:
    return lines[span[0] : span[1]]


def _find_place(found: WeakenedStatement, base: str, now: str) -> int:
    """Where a statement that is gone belongs: after the one that it followed at the base, or at the end."""
    before, after = _open_scope(base, found.scope), _open_scope(now, found.scope)
    at = next((place for place, one in enumerate(before) if ast.dump(one) == ast.dump(found.lost or one)), len(before))
    for one in reversed(before[:at]):
        names = {*list_bound_names(one)}
        alike = [other for other in after if ast.dump(other) == ast.dump(one) or (names and names == {*list_bound_names(other)})]
        if alike:
            return _find_lines(alike[-1])[1]
    if after and before[at + 1 :]:
        return _find_lines(after[0])[0]
    return _find_lines(after[-1])[1] if after else len(now.splitlines())


def _open_scope(text: str, names: Sequence[str]) -> list[ast.stmt]:
    body = parse_without_docstrings(text)
    for name in names:
        body = [part for one in body if isinstance(one, ast.ClassDef) and one.name == name for part in one.body]
    return [one for one in body if hasattr(one, "lineno")]


def _apply_splices(text: str, splices: Sequence[_Splice]) -> str:
    lines = text.splitlines()
    for _, splice in sorted(enumerate(splices), key=lambda one: (one[1].start, one[1].end, one[0]), reverse=True):
        lines[splice.start : splice.end] = splice.lines
    return "\n".join(lines) + "\n"


def _restore_imports(base: str, text: str) -> str:
    """With the imports of the base that what was put back needs and that are gone."""
    old, now = parse_without_docstrings(base), parse_without_docstrings(text)
    bound = {name for statement in now for name in list_bound_names(statement)}
    used = {node.id for node in ast.walk(ast.Module([*now], [])) if isinstance(node, ast.Name)}
    missing = [
        one
        for one in old
        if isinstance(one, IMPORT_NODES) and not {*list_bound_names(one)} <= bound and used & {*list_bound_names(one)}
    ]
    at = next((one.lineno - 1 for one in now if not _comes_first(one)), 0)
    lines = text.splitlines()
    lines[at:at] = [line for one in missing for line in _cut_lines(base.splitlines(), _find_lines(one))]
    return "\n".join(lines) + "\n"


def _comes_first(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.ImportFrom) and statement.module == "__future__"


def put_back_section(base: str, now: str, marks: Collection[str]) -> str:
    """The file with the changed lines under headings that hold one of these marks as at the base, all other lines as they are."""
    old, new, text = base.splitlines(), now.splitlines(), list[str]()
    for kind, first, last, start, end in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        heads = {_find_heading(old, first, last), _find_heading(new, start, end)}
        ours = kind == "equal" or not any(mark in head for head in heads for mark in marks)
        text += new[start:end] if ours else old[first:last]
    return "\n".join(text) + "\n"


def _find_heading(lines: Sequence[str], first: int, last: int) -> str:
    """The heading of a section that these lines are under, or begin with."""
    inside = [line for line in lines[first:last] if line.lstrip().startswith("[")]
    above = [line for line in lines[:first] if line.startswith("[")]
    return inside[0] if inside else above[-1] if above else ""
