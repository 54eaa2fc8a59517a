"""Who uses a symbol, as a person reads it: by file, sure calls first, tests and mere names apart."""

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any

from afresh.app.symbols import Used
from afresh.cli.views.parts import heading, said
from afresh.cli.views.symbols import place_json, shown
from afresh.domain.calls import Call, Way
from afresh.domain.code import Kind, Place

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.text import Text

LINES = 40
"""Of one part, unless all are asked for."""
NOTED = {Way.PASSED: "handed on", Way.DECORATOR: "decorates", Way.IMPORT: "imports"}


def used_json(used: Used) -> dict[str, Any]:
    return {
        "symbol": place_json(used.place),
        "callers": [
            {"path": call.path, "line": call.line, "within": call.within, "text": call.text, "sure": call.sure,
             "kind": call.kind.value, "test": call.path in used.tests}
            for call in used.callers
        ],
        "files_not_read": used.callers.unread,
        "cut": used.callers.cut,
        "above": [place_json(place) for place in used.above],
        "below": [place_json(place) for place in used.below],
    }  # fmt: skip


def used(used: Used, everything: bool = False) -> "RenderableType":
    from rich.console import Group

    calls = [call for call in used.callers if call.kind is not Way.IMPORT]
    imports = [call for call in used.callers if call.kind is Way.IMPORT]
    sure = [call for call in calls if call.sure]
    named = [call for call in calls if not call.sure]
    parts: list[RenderableType] = [*shown(used.place), said(""), said(told(used, sure, named), "bold" if calls else "yellow")]
    for title, group in (
        ("", [call for call in sure if call.path not in used.tests]),
        ("Tests", [call for call in sure if call.path in used.tests]),
        ("By name only: what it is called on is not known, or a class above answers", named),
        ("Imports", imports if everything else []),
    ):
        parts += section(title, group, everything, used.place.symbol.kind)
    below = "Overridden by" if used.place.symbol.kind is Kind.METHOD else "Extended by"
    parts += [*kin("Extends", used.above), *kin(below, used.below)]
    return Group(*parts, *remarks(used, imports, everything))


def told(used: Used, sure: Sequence[Call], named: Sequence[Call]) -> str:
    if not sure and not named:
        return "Nobody in this repository uses it."
    tests = sum(call.path in used.tests for call in sure)
    files = len({call.path for call in sure})
    of_tests = f", {'all' if tests == len(sure) else f'{tests} of them'} in tests" if tests else ""
    counted = f"{len(sure)} {'use' if len(sure) == 1 else 'uses'} in {files} {'file' if files == 1 else 'files'}{of_tests}"
    return f"{counted if sure else 'No sure use'}{f'; {len(named)} more by name' if named else ''}"


def section(title: str, calls: Sequence[Call], everything: bool, of: Kind) -> "list[RenderableType]":
    parts: list[RenderableType] = [heading(title)] if title and calls else []
    kept = calls if everything else calls[:LINES]
    for path, group in groupby(kept, key=lambda call: call.path):
        parts += [said(f"\n{path}", "bold"), *lines(list(group), of)]
    left = len(calls) - len(kept)
    if left:
        files = len({call.path for call in calls[len(kept) :]})
        parts.append(said(f"\nand {left:,} more lines in {files} {'file' if files == 1 else 'files'}; --all shows them", "dim"))
    return parts


def lines(calls: Sequence[Call], of: Kind) -> "Iterator[Text]":
    """Under the function they stand in: its name is told once."""
    from rich.text import Text

    notes = {**NOTED, Way.PASSED: "refers to it"} if of in (Kind.CLASS, Kind.INTERFACE) else NOTED
    for within, group in groupby(calls, key=lambda call: call.within):
        yield said(f"  {within}", "cyan") if within else Text("  top of the file", "cyan italic")
        for call in group:
            note = (f"  {notes[call.kind]}", "magenta") if call.kind in notes else ""
            line = Text.assemble((f"{call.line:>8}  ", "dim"), said(call.text), note)
            line.no_wrap, line.overflow = True, "ellipsis"
            yield line


def kin(title: str, places: Sequence[Place]) -> "list[RenderableType]":
    from rich.text import Text

    if not places:
        return []
    rows = [Text.assemble("  ", said(place.symbol.name, "yellow"), "  ", said(str(place), "dim")) for place in places[:12]]
    more = [said(f"  and {len(places) - 12:,} more", "dim")] if len(places) > 12 else []
    return [heading(title), *rows, *more]


def remarks(used: Used, imports: Sequence[Call], everything: bool) -> "list[RenderableType]":
    files = len({call.path for call in imports})
    said_of = {
        f"Imported in {files} {'file' if files == 1 else 'files'}; --all lists them.": bool(imports) and not everything,
        f"{used.callers.unread:,} more files speak of it and were not read: too many for one question.": bool(
            used.callers.unread
        ),
        "Following types took too long; some were decided by name.": used.callers.cut,
        f"Also defined in tests: {', '.join(str(place) for place in used.others[:4])}.": bool(used.others),
    }
    told = [said(text, "dim") for text, holds in said_of.items() if holds]
    return [said(""), *told] if told else []
