"""Who calls whom: what reading finds beside what happens when a package's own tests run.

    python bench/calls.py ROOT=PACKAGE_FOLDER [ROOT=PACKAGE_FOLDER …] [--python PYTHON] [--folder DIR]

ROOT holds a source tree with its tests; PACKAGE_FOLDER is the package within it, as `src/click`. The tests run under a profiler
that writes down every (calling function, line, called function) within the package; then each called function's callers are asked
for. PYTHON has pytest and what the tests need.
"""

import argparse
import json
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from afresh.code.graph.calls import find_callers
from afresh.code.index.code_index import CodeIndex, build_code_index
from afresh.code.search_hit import SymbolUse, UseKind
from afresh.core.symbol import SymbolPlace
from publish import write_results
from traced_calls import Happened, Pair, traced


@dataclass
class Tree:
    """A folder as the port `Files`."""

    root: Path

    def read(self, path: str) -> str:
        return (self.root / path).read_text("utf-8", errors="replace")

    def write(self, path: str, text: str) -> None:
        raise OSError("only looked at")

    def paths(self) -> list[str]:
        return sorted(str(path.relative_to(self.root)) for path in self.root.rglob("*.py"))

    def stamps(self) -> dict[str, str]:
        return dict.fromkeys(self.paths(), "")


def place(code: CodeIndex, path: str, name: str) -> SymbolPlace | None:
    if path not in code.files:
        return None
    held = [symbol for symbol in code.reading(path).symbols if symbol.name == name]
    return SymbolPlace(path, held[-1]) if held else None


@dataclass
class Ours:
    sure: set[Pair] = field(default_factory=set)
    all: set[Pair] = field(default_factory=set)
    calls: list[SymbolUse] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    cut: int = 0


def ours(code: CodeIndex, called: set[tuple[str, str]]) -> Ours:
    found = Ours()
    for path, name in sorted(called):
        target = place(code, path, name)
        if target is None:
            continue
        started = time.process_time()
        answer = find_callers(code, target)
        found.seconds.append(time.process_time() - started)
        found.cut += answer.cut or bool(answer.unread)
        for call in answer:
            if call.kind is UseKind.IMPORT:
                continue
            pair = (call.path, call.within, path, name)
            found.all.add(pair)
            found.calls.append(call)
            if call.sure:
                found.sure.add(pair)
    return found


def count_contradicted(code: CodeIndex, happened: Happened, calls: list[SymbolUse]) -> tuple[int, int]:
    """Sure calls on lines that were seen to call something of that name in the package: how many there are, and those where it
    was never the one that was meant."""
    looked = wrong = 0
    for call in calls:
        if call.sure and call.kind is UseKind.CALL:
            short = call.target.symbol.short
            seen = {each for each in happened.at.get((call.path, call.line), ()) if each[1].rpartition(".")[2] == short}
            looked += bool(seen)
            wrong += bool(seen) and (call.target.path, call.target.symbol.name) not in seen
    return looked, wrong


def share(found: set[Pair], happened: set[Pair]) -> float:
    return round(100 * len(found & happened) / len(happened), 1) if happened else 0.0


def special(pair: Pair) -> bool:
    last = pair[3].rpartition(".")[2]
    return last.startswith("__") and last.endswith("__") and last != "__init__"


def measured(root: Path, inner: str, options: argparse.Namespace) -> dict[str, Any]:
    print(root.name, file=sys.stderr)
    options.folder.mkdir(exist_ok=True)
    happened = traced(root, inner, options.python, options.folder / f"calls-{root.name}.json")
    started = time.process_time()
    code = build_code_index(Tree(root))
    opened = time.process_time() - started
    known = {pair for pair in happened.pairs if place(code, pair[2], pair[3]) and pair[0] in code.files}
    own = {pair for pair in known if pair[0].startswith(f"{inner}/")}
    mine = ours(code, {pair[2:] for pair in known})
    looked, wrong = count_contradicted(code, happened, mine.calls)
    row: dict[str, Any] = {
        "package": root.name, "pairs": len(own), "pairs with tests": len(known), "not of a symbol": len(happened.pairs - known),
        "sure": share(mine.sure, own), "all": share(mine.all, own),
        "sure, written out": share(mine.sure, {pair for pair in own if not special(pair)}),
        "all, written out": share(mine.all, {pair for pair in own if not special(pair)}),
        "sure with tests": share(mine.sure, known), "all with tests": share(mine.all, known),
        "edges sure": len(mine.sure), "edges by name": len(mine.all - mine.sure),
        "by name that happened": len((mine.all - mine.sure) & known),
        "sure that could be checked": looked, "contradicted": wrong, "cut off": mine.cut,
        "seconds to read": round(opened, 2), "seconds a question": round(sum(mine.seconds) / max(1, len(mine.seconds)), 3),
        "longest question": round(max(mine.seconds, default=0), 2), "questions": len(mine.seconds),
    }  # fmt: skip
    return row


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("trees", nargs="+", metavar="ROOT=PACKAGE_FOLDER")
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()) / "afresh-bench-calls", help="of traces")
    parser.add_argument("--python", default=sys.executable)
    options = parser.parse_args()
    rows = []
    for tree in options.trees:
        root, _, inner = tree.partition("=")
        rows.append(measured(Path(root).resolve(), inner, options))
        print(json.dumps(rows[-1], indent=1))
    write_results("calls", {"packages": {row["package"]: row for row in rows}})


if __name__ == "__main__":
    main()
