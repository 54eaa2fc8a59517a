"""The commands."""

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from stock.model import StockError, add, take
from stock.show import table
from stock.store import load, save


def cents(text: str) -> int:
    whole, _, part = text.partition(".")
    if not whole.isdigit() or not (part.isdigit() and len(part) == 2 or not part):
        raise argparse.ArgumentTypeError(f"{text!r} is no price")
    return int(whole) * 100 + int(part or 0)


def parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(prog="stock")
    commands = made.add_subparsers(dest="command", required=True)
    adding = commands.add_parser("add")
    adding.add_argument("name")
    adding.add_argument("count", type=int)
    adding.add_argument("price", type=cents)
    taking = commands.add_parser("take")
    taking.add_argument("name")
    taking.add_argument("count", type=int)
    commands.add_parser("list")
    return made


def main(arguments: Sequence[str]) -> int:
    given = parser().parse_args(arguments)
    path = Path(os.environ.get("STOCK", "stock.json"))
    stock = load(path)
    try:
        if given.command == "add":
            save(path, add(stock, given.name, given.count, given.price))
        elif given.command == "take":
            save(path, take(stock, given.name, given.count))
        else:
            print(table(sorted(stock.values(), key=lambda item: item.name)))
    except StockError as fault:
        print(f"stock: {fault}", file=sys.stderr)
        return 1
    return 0
