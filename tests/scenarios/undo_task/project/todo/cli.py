"""The commands."""

import os
import sys
from collections.abc import Sequence
from pathlib import Path

from todo.items import Todo, TodoError, add, done, drop
from todo.store import load, save

USAGE = "usage: todo add TEXT | done NUMBER | drop NUMBER | list"


def main(words: Sequence[str]) -> int:
    path = Path(os.environ.get("TODO", "todo.json"))
    try:
        return run(words, path)
    except TodoError as fault:
        print(f"todo: {fault}", file=sys.stderr)
        return 1


def run(words: Sequence[str], path: Path) -> int:
    todo = load(path)
    match list(words):
        case ["add", *text] if text:
            todo = add(todo, " ".join(text))
            print(todo.last)
        case ["done", number]:
            todo = done(todo, whole(number))
        case ["drop", number]:
            todo = drop(todo, whole(number))
        case ["list"]:
            print(shown(todo))
            return 0
        case _:
            print(USAGE, file=sys.stderr)
            return 2
    save(path, todo)
    return 0


def whole(text: str) -> int:
    if not text.isdigit():
        raise TodoError(f"{text!r} is no number")
    return int(text)


def shown(todo: Todo) -> str:
    rows = [f"{item.number:>3} [{'x' if item.done else ' '}] {item.text}" for item in todo.items]
    return "\n".join(rows) or "nothing to do"
