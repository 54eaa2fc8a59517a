"""Reads a Markdown checklist: unticked items are tasks, what is below an item is about it.

- [ ] make the parser accept tabs
  They are refused since version 2.      ← details
  - [ ] write the tests first            ← a task that the item above waits for
- [x] done already                       ← not added
"""

import re
from textwrap import dedent

from afresh.config.task_lists.listed_task import (
    MAX_DETAILS_CHARACTERS,
    MAX_GOAL_CHARACTERS,
    ListedTask,
    make_fault,
    make_key,
    refuse_long_list,
)
from afresh.core.fast_dataclass import dataclass

ITEM_PATTERN = re.compile(r"([ \t]*)(?:[-*+]|\d{1,9}[.)])[ \t]+\[([^\[\]]{0,3})\](?:[ \t]+(.*))?")
FENCE_PATTERN = re.compile(r"[ \t]*(`{3,}|~{3,})")
TAB_COLUMNS = 4
TICKED = ("x", "X")


@dataclass(frozen=True, slots=True)
class ChecklistItem:
    indent: int
    line: int
    text: str
    done: bool
    below: int = -1
    """The place of the item that it is below; -1: of none."""


def parse_checklist(text: str, name: str) -> list[ListedTask]:
    """The unticked items in order; each waits for the unticked items below it. BadInput names the line that is wrong."""
    items, details = _list_items(text.split("\n"), name)
    if not items:
        raise make_fault(name, 1, "there is no item such as '- [ ] make the parser accept tabs'")
    keys, waits = _choose_keys(items), dict[int, list[str]]()
    for item, key in zip(items, keys, strict=True):
        above = item.below
        while above >= 0 and items[above].done:
            above = items[above].below
        if not item.done:
            waits.setdefault(above, []).append(key)
    tasks = [
        ListedTask(
            key=key,
            goal=item.text,
            line=item.line,
            details=_join_details(details.get(place, []), item, name),
            needs=tuple(waits.get(place, ())),
        )
        for place, (item, key) in enumerate(zip(items, keys, strict=True))
        if not item.done
    ]
    refuse_long_list(tasks, name)
    return tasks


def _list_items(lines: list[str], name: str) -> tuple[list[ChecklistItem], dict[int, list[str]]]:
    """The items, and the lines below each. A line that is not indented ends the list before it."""
    items, details, open_items, fence = list[ChecklistItem](), dict[int, list[str]](), list[int](), ""
    for number, line in enumerate(lines, 1):
        match = None if fence else ITEM_PATTERN.fullmatch(line.rstrip())
        if line.strip() and not fence:
            indent = _count_indent(line)
            while open_items and items[open_items[-1]].indent >= indent:
                open_items.pop()
        fence = _follow_fence(line, fence)
        if match:
            items.append(_read_item(match, number, open_items[-1] if open_items else -1, name))
            open_items.append(len(items) - 1)
        elif open_items:
            details.setdefault(open_items[-1], []).append(line)
    return items, details


def _read_item(match: re.Match[str], number: int, above: int, name: str) -> ChecklistItem:
    mark, text = match[2], " ".join((match[3] or "").split())
    if mark.strip() and mark not in TICKED:
        raise make_fault(name, number, f"[{mark}] is neither [ ] nor [x]")
    if not text:
        raise make_fault(name, number, "the item has no text")
    if len(text) > MAX_GOAL_CHARACTERS:
        raise make_fault(name, number, f"an item has at most {MAX_GOAL_CHARACTERS:,} characters")
    return ChecklistItem(_count_indent(match[1]), number, text, mark in TICKED, above)


def _choose_keys(items: list[ChecklistItem]) -> list[str]:
    """By the text of each item and of those that it is below, so that a list can be sorted and ticked; the same text again has a
    number."""
    keys, seen = list[str](), dict[str, int]()
    for item in items:
        key = make_key(keys[item.below] if item.below >= 0 else "", item.text)
        seen[key] = seen.get(key, 0) + 1
        keys.append(key if seen[key] == 1 else make_key(key, str(seen[key])))
    return keys


def _follow_fence(line: str, fence: str) -> str:
    """The fence of the code block that the next line is in; empty: in none."""
    match = FENCE_PATTERN.match(line)
    if not match:
        return fence
    if not fence:
        return match[1]
    return "" if match[1].startswith(fence) and not line.strip().strip(fence[0]) else fence


def _join_details(lines: list[str], item: ChecklistItem, name: str) -> str:
    text = dedent("\n".join(line.expandtabs(TAB_COLUMNS) for line in lines)).strip()
    if len(text) > MAX_DETAILS_CHARACTERS:
        raise make_fault(name, item.line, f"the text below the item has more than {MAX_DETAILS_CHARACTERS:,} characters")
    return text


def _count_indent(line: str) -> int:
    wide = line.expandtabs(TAB_COLUMNS)
    return len(wide) - len(wide.lstrip())
