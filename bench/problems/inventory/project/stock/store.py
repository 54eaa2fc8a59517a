"""The stock as a file."""

import json
from pathlib import Path

from stock.model import Item, Stock


def load(path: Path) -> Stock:
    if not path.exists():
        return {}
    return {name: Item(name, *held) for name, held in json.loads(path.read_text("utf-8")).items()}


def save(path: Path, stock: Stock) -> None:
    path.write_text(json.dumps({item.name: [item.count, item.cents] for item in stock.values()}), "utf-8")
