"""Which changes of tests and settings need leave: all but those that only add. What has grown needs it where the work does not
pass with it as it was."""

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from functools import partial

from afresh.core.leave import ChangedUnit
from afresh.core.recognise_test_files import is_conftest, is_test_code
from afresh.core.task import WRITE_TESTS_TYPE
from afresh.core.verdict import list_first_names
from afresh.ports.tool import ToolContext
from afresh.verification.court import CourtChange, CourtKind, list_lost_examples
from afresh.verification.test_units import (
    CHECK,
    SyntaxTree,
    TestUnit,
    read_imports,
    read_inline_tests,
    read_plain_code,
    read_test_units,
)

_LISTS = frozenset(
    ("elts", "entries", "array", "object", "array_expression", "literal_value", "array_initializer",
     "element_value_array_initializer")
)  # fmt: skip
_LEFT_OUT = re.compile(
    r"skip|ignore|xfail|exclu|omit|fail|disabl|deselect|flaky|slow|unsupported|todo|pending|quarantine|collect|pytestmark|plugins",
    re.I,
)
"""Names of lists whose entries are left out of something."""
IMPORT_OF = "import of "
"""Begins the name of a change of what a file imports."""
MAX_NEW_CHARACTERS = 800
"""Of what is shown of a file that was deleted, or was added beside a test that was removed."""
MIN_LIKENESS = 0.5
"""Share of the words that a test and what became of it have in common."""
_ENDING, _LEAVING = re.compile(r"(?i)return|raise|break|continue|yield|throw|goto"), re.compile(r"(?i)skip|xfail|exit|abort")
_BLOCKS = frozenset({"body", "statement_block", "block", "statement_list"})
_NEW_NAMES = frozenset({"Assign", "lexical_declaration", "let_declaration", "short_var_declaration"})
_HIDING = re.compile(
    r"\b(?:describe|it|test|suite|context|specify)(?:\.\w+)*\.only\b|\bf(?:it|describe)\s*\(|\bexit\(|os\.Exit\b|\b(?:pytestmark|__test__"
    r"|collect_ignore\w*|load_tests|importorskip|SkipTest|skipTest|xfail)\b|\bskip\(|\.skip\b|\bt\.Skip|#\[ignore|@(?:Disabled|Ignore)\b|^[^\S\n]*return;?$",
    re.MULTILINE,
)
"""Keeps other tests from running, where it stands beside them."""
_COMMENT_SIGN = {
    **dict.fromkeys(("ini", "cfg"), "[#;]"),
    **dict.fromkeys(("js", "cjs", "mjs", "ts", "cts", "mts", "json", "gradle", "kts", "rs", "go", "java"), "//"),
}
"""What begins a comment, by the suffix of the file; else `#`."""


def find_changed_units(context: ToolContext, court: Sequence[CourtChange]) -> tuple[ChangedUnit, ...]:
    """All changes of the court since the base, but for what was only added beside it."""
    if context.state.task.judged_as == WRITE_TESTS_TYPE:
        return ()
    return tuple(unit for one in court for unit in compare_file(one))


def compare_file(one: CourtChange) -> list[ChangedUnit]:
    """What of a file needs leave: unit by unit where its syntax is known. What was added is absent in the court's run; only what
    reaches tests that were there may be needed for it."""
    path, base, now = one.path, one.base_text or "", one.now_text or ""
    what = "added" if one.base is None else "deleted" if one.now is None else "altered"
    soft = one.kind is CourtKind.DATA or one.base is None
    is_code = one.kind in (CourtKind.SETTINGS, CourtKind.SCRIPT) or is_test_code(path)
    shown = [_drop_comments(path, text) if is_code else text for text in (base, now)]
    whole = ChangedUnit(path, "", what, shown[0], shown[1], soft)
    if one.kind is CourtKind.SHARED or (one.base is None and one.kind is not CourtKind.SETTINGS and not is_conftest(path)):
        return []
    if one.kind in (CourtKind.SETTINGS, CourtKind.SCRIPT, CourtKind.DATA) or one.base is None:
        says_the_same = whole.before == whole.after and None not in (one.base_text, one.now_text)
        return [] if says_the_same else [whole]
    if one.kind is CourtKind.INLINE and path.endswith(".py"):
        lost, new = "\n".join(list_lost_examples(base, now)), "\n".join(list_lost_examples(now, base))
        units = _compare_units(path, read_inline_tests(base), read_inline_tests(now), False)
        return [*([ChangedUnit(path, "doctest", before=lost, after=new)] if lost else []), *units]
    before, after = read_test_units(path, base), read_test_units(path, now)
    owned = one.kind is CourtKind.TESTS and is_test_code(path)
    if one.now is None and one.kind is CourtKind.TESTS:
        return [replace(whole, before=_show_units(before or ()) or whole.before, after="")]
    if before is not None and after is not None and (owned or one.kind is CourtKind.INLINE):
        units = _compare_units(path, [unit for unit in before if owned or unit.inline], after, owned)
        return [*units, *(_compare_imports(path, base, now) if owned else ())]
    lines = [line for line in one.change.patch.splitlines() if not line.startswith(("---", "+++"))]
    hides = owned and any(line.startswith("+") and _HIDING.search(line[1:]) for line in lines)
    only_added = one.change.patch and not hides and not any(line.startswith("-") for line in lines)
    return [] if only_added or one.kind is CourtKind.INLINE else [whole]


def _compare_imports(path: str, base: str, now: str) -> Iterator[ChangedUnit]:
    """The court's run has those of the base; what they name may have been moved, renamed or removed as ordered."""
    before, after = read_imports(path, base), read_imports(path, now)
    if lost := [name for name, source in before.items() if after.get(name) != source]:
        hides = any(name in after for name in lost) or any(name.endswith(" *") for name in after.keys() - before.keys())
        texts = ("\n".join(one.values()) for one in (before, after))
        yield ChangedUnit(path, IMPORT_OF + list_first_names(lost), "altered" if hides else "removed", *texts, soft=True)


def _compare_units(
    path: str, before: Sequence[TestUnit], after: Sequence[TestUnit], owned: bool, within: str = ""
) -> Iterator[ChangedUnit]:
    """In suites and classes member by member. What was added is free unless it hides the rest, in a file of tests (`owned`)."""
    left, known, removed = list(after), {unit.key for unit in before}, list[ChangedUnit]()
    for unit in before:
        alike = [one for one in left if one.key == unit.key]
        if not alike and unit.key[0] == "statement":
            alike = [one for one in left if one.key[0] == "statement" and one.key not in known]
        found = next((one for one in alike if unit.tree == one.tree), next(iter(alike), None))
        here = ChangedUnit(path, within + unit.name, before=unit.text)
        if found is None:
            removed.append(replace(here, what="removed"))
            continue
        left.remove(found)
        if bool(unit.members) != bool(found.members) or unit.tree != found.tree:
            words, listed = {*unit.tree.words()}, bool(_LEFT_OUT.search(unit.name))
            soft = not listed and _grew(unit.tree, found.tree, partial(_is_new_check, known=words))
            ways = {"altered": soft or listed, "extended": _contains(found, unit), "shortened": _contains(unit, found)}
            yield replace(here, what=next(filter(ways.get, ways), "altered"), after=found.text, soft=soft)
        elif unit.members:
            mark = "::" if path.endswith(".py") else " › "
            yield from _compare_units(path, unit.members, found.members, True, f"{here.name}{mark}")
    yield from (_add_what_came(unit, left) for unit in removed)
    names = frozenset(name for unit in before for name in unit.binds)
    for unit in left if owned else ():
        if unit.binds & names or _hides_others(unit) or (is_conftest(path) and _reaches_all(unit)):
            yield ChangedUnit(path, within + unit.name, "added", after=unit.text)


def _add_what_came(removed: ChangedUnit, new: Sequence[TestUnit]) -> ChangedUnit:
    """With all of what was added that is like it; else with what was added beside it, what is most like it first."""
    ranked = sorted(new, key=lambda unit: -_measure_likeness(removed.before, unit.text))
    if ranked and _measure_likeness(removed.before, ranked[0].text) >= MIN_LIKENESS:
        return replace(removed, after=ranked[0].text, became=ranked[0].name)
    return replace(removed, after=_show_units(ranked))


def _measure_likeness(*texts: str) -> float:
    left, right = (Counter(re.findall(r"\w+", text)) for text in texts)
    return 2 * (left & right).total() / max(1, left.total() + right.total())


def _show_units(units: Sequence[TestUnit]) -> str:
    """What fits, and the names of the rest."""
    texts, rest = list[str](), list[str]()
    for unit in (unit for unit in units if unit.key[0] != "statement"):
        fits = len("\n\n".join((*texts, unit.text))) <= MAX_NEW_CHARACTERS
        texts.append(unit.text) if fits else rest.append(unit.name)
    return "\n\n".join((*texts, *([f"(not shown: {list_first_names(rest, 20)})"] if rest else [])))


def _hides_others(unit: TestUnit) -> bool:
    """A new test may be skipped; what applies to others may not skip them."""
    reaches = unit.name.lower().startswith(("setup", "load_tests")) or "autouse" in unit.text
    apart = unit.tree.kind in ("FunctionDef", "AsyncFunctionDef", "class") and not reaches
    return not apart and bool(_HIDING.search(unit.text)) and not (unit.key[0] == "test" and ".only" not in unit.text)


def _reaches_all(unit: TestUnit) -> bool:
    """Whether it reaches tests that do not name it: a hook, a fixture for every test, a statement at import."""
    return unit.name.startswith("pytest_") or unit.key[0] == "statement" or "autouse" in unit.text


def _grew(base: SyntaxTree, now: SyntaxTree, is_free: Callable[[SyntaxTree], bool]) -> bool:
    """Whether all of it is there, in its place, and what is new are only entries of lists, and such statements."""
    if base == now:
        return True
    if (base.kind, base.text) != (now.kind, now.text) or base.kind == CHECK or not base.parts:
        return False
    place = 0
    for part in now.parts:
        if place < len(base.parts) and _grew(base.parts[place], part, is_free):
            place += 1
        elif not (is_free(part) if now.kind in _BLOCKS else now.kind in _LISTS and len(part.kind) > 1):
            return False
    return place == len(base.parts)


def _is_new_check(part: SyntaxTree, known: Collection[str]) -> bool:
    return part.kind == CHECK or (part.kind in _NEW_NAMES and next(_list_names(part), "") not in known)


def _contains(whole: TestUnit, part: TestUnit) -> bool:
    """Whether one has all of the other, and what it has beside that can't end it."""
    return _grew(part.tree, whole.tree, lambda beside: not _can_end(beside))


def _can_end(part: SyntaxTree) -> bool:
    """Whether what stands after it may not be run."""
    return bool(_ENDING.match(part.kind) or _LEAVING.search(part.text)) or any(map(_can_end, part.parts))


def _list_names(tree: SyntaxTree) -> Iterator[str]:
    if tree.kind in ("name", "identifier"):
        yield tree.text
    for part in tree.parts:
        yield from _list_names(part)


def _drop_comments(path: str, text: str) -> str:
    """Without lines that are comments: they may say anything of what the user wants."""
    if path.endswith(".py"):
        return read_plain_code(text)
    sign = _COMMENT_SIGN.get(path.rpartition(".")[2], "#(?!!)")
    return "\n".join(line.rstrip() for line in text.splitlines() if line.strip() and not re.match(rf"\s*{sign}", line))
