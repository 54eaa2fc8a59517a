"""The list as a file."""

import json
from dataclasses import asdict
from pathlib import Path

from todo.items import Item, Todo, TodoError


def load(path: Path) -> Todo:
    if not path.exists():
        return Todo()
    try:
        held = json.loads(path.read_text("utf-8"))
        return Todo(tuple(Item(**item) for item in held["items"]), held["last"])
    except (ValueError, KeyError, TypeError) as fault:
        raise TodoError(f"{path} can't be read: {fault}") from fault


def save(path: Path, todo: Todo) -> None:
    path.write_text(json.dumps({"items": [asdict(item) for item in todo.items], "last": todo.last}, indent=1), "utf-8")
