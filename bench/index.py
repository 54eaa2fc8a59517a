"""What the index of code costs: empty, unchanged and after one edit, beside a bare parse, a bare walk and aider's map.

    python bench/index.py TREE [--rounds N] [--copies N] [--quick] [--envs FOLDER]

TREE is unpacked source, of Django say (`pip download --no-binary :all: --no-deps django`). It is copied first. Every contestant
runs in a process of its own, in turns; its imports are not counted.
"""

import argparse
import json
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Any

from environments import environment

HERE = Path(__file__).parent
RESULTS = HERE / "results" / "index.json"
SETTLED = 2.5
"""Seconds after which a file that was just written is no longer looked at twice."""
AIDER, PARSER = ["aider-chat==0.86.2"], ["tree-sitter>=0.25", "tree-sitter-python>=0.25"]
TARGETS = {"cold beside a bare parse": 2.0, "cold beside aider": 0.2, "unchanged beside a bare walk": 3.0,
           "one change beside aider": 0.05, "memory beside aider": 1 / 3}  # fmt: skip

Spent = dict[str, float]


class Ring:
    """The contestants, and what each has spent, by situation."""

    def __init__(self, tree: Path, state: Path, pythons: dict[str, str]) -> None:
        self.tree, self.state, self.pythons = tree, state, pythons
        self.aiders = tree.with_name("aiders")
        """Its own copy, as it writes its cache into the tree."""
        self.spent: dict[str, list[Spent]] = {}

    def run(self, situation: str, script: str, *more: str) -> None:
        python = self.pythons.get(script)
        if python is None:
            return
        tree = self.aiders if script == "aider_map" else self.tree
        command = [python, str(HERE / "indexes" / f"{script}.py"), str(tree), str(self.state), *more]
        done = subprocess.run(command, capture_output=True, text=True, cwd=self.tree.parent)
        if done.returncode:
            raise RuntimeError(f"{script}: {done.stderr[-600:]}")
        self.spent.setdefault(" ".join((situation, script, *more)), []).append(json.loads(done.stdout.splitlines()[-1]))

    def forget_ours(self) -> None:
        shutil.rmtree(self.state, ignore_errors=True)
        self.state.mkdir()

    def forget_aider(self) -> None:
        for found in self.aiders.glob(".aider*"):
            shutil.rmtree(found)

    def edit(self, path: Path, turn: int) -> None:
        for tree in (self.tree, self.aiders):
            edited(tree / path, turn)

    def middle(self, name: str, what: str) -> float | None:
        return median(one[what] for one in self.spent[name]) if name in self.spent else None


def rounds(ring: Ring, number: int, changed: Path) -> None:
    for turn in range(number):
        ring.forget_ours()
        ring.run("cold", "ours")
        ring.run("cold", "parse")
        ring.forget_aider()
        ring.run("cold", "aider_map")
        ring.run("same", "ours")
        ring.run("same", "walk")
        ring.run("same", "aider_map")
        ring.edit(changed, turn)
        ring.run("changed", "ours")
        ring.run("changed", "aider_map")
        ring.forget_aider()
        ring.run("cold", "aider_map", "tags")
        ring.run("same", "aider_map", "tags")
        ring.edit(changed, turn + 1_000)
        ring.run("changed", "aider_map", "tags")
        ring.edit(changed, -1)
        time.sleep(SETTLED)


def edited(file: Path, turn: int) -> None:
    before = file.read_text("utf-8").partition("\n# turn ")[0]
    file.write_text(before + (f"\n# turn {turn}\ndef turned_{turn}(value):\n    return value\n" if turn >= 0 else ""), "utf-8")


def beside(ring: Ring) -> dict[str, Any]:
    """The ratios that count, each of medians."""
    pairs = {
        "cold beside a bare parse": ("cold ours", "cold parse", "cpu"),
        "cold beside aider": ("cold ours", "cold aider_map", "cpu"),
        "cold beside aider's tags alone": ("cold ours", "cold aider_map tags", "cpu"),
        "unchanged beside a bare walk": ("same ours", "same walk", "cpu"),
        "unchanged beside aider": ("same ours", "same aider_map", "cpu"),
        "one change beside aider": ("changed ours", "changed aider_map", "cpu"),
        "one change beside aider's tags alone": ("changed ours", "changed aider_map tags", "cpu"),
        "memory beside aider": ("cold ours", "cold aider_map", "peak"),
    }
    found: dict[str, Any] = {}
    for name, (ours, theirs, what) in pairs.items():
        mine, other = ring.middle(ours, what), ring.middle(theirs, what)
        if mine is not None and other:
            target = TARGETS.get(name)
            found[name] = {"ratio": mine / other, "target": target, "met": None if target is None else mine / other <= target}
    return found


def at_scale(tree: Path, folder: Path, copies: int, number: int) -> dict[str, Any]:
    """Many copies, each of other content, in one tree."""
    large = folder / "large"
    for copy in range(copies):
        shutil.copytree(tree, large / f"copy{copy}", ignore=shutil.ignore_patterns(".aider*"))
        for file in (large / f"copy{copy}").rglob("*.py"):
            with file.open("ab") as end:
                end.write(f"\n# copy {copy}\nCOPY_{copy} = {copy}\n".encode())
    time.sleep(SETTLED)
    ring = Ring(large, folder / "state-large", {"ours": sys.executable, "walk": sys.executable})
    some = next(file for file in sorted(large.rglob("*.py")) if file.stat().st_size > 2_000)
    for turn in range(number):
        ring.forget_ours()
        ring.run("cold", "ours")
        ring.run("same", "ours")
        ring.run("same", "walk")
        edited(some, turn)
        ring.run("changed", "ours")
    kept = (ring.state / "code.db").stat().st_size
    return {"files": int(ring.spent["cold ours"][0]["files"]), "store_bytes": kept, "spent": summary(ring)}


def summary(ring: Ring) -> dict[str, Any]:
    return {name: {what: ring.middle(name, what) for what in ("cpu", "wall", "peak", "files")} for name in sorted(ring.spent)}


def table(result: dict[str, Any]) -> str:
    lines = ["| what | processor (s) | clock (s) | memory (MB) |", "|---|---:|---:|---:|"]
    spent = dict(result["spent"])
    if "large" in result:
        spent |= {f"{result['large']['files']:,} files: {name}": one for name, one in result["large"]["spent"].items()}
    lines += [f"| {name} | {one['cpu']:.3f} | {one['wall']:.3f} | {one['peak'] / 1e6:.0f} |" for name, one in spent.items()]
    lines += ["", "| beside | ratio | target | met |", "|---|---:|---:|---|"]
    for name, one in result["beside"].items():
        target = f"{one['target']:.2f}" if one["target"] else ""
        lines.append(
            f"| {name} | {one['ratio']:.3f} | {target} | {'' if one['met'] is None else 'yes' if one['met'] else 'no'} |"
        )
    return "\n".join(lines)


def pythons(args: argparse.Namespace, folder: Path) -> dict[str, str]:
    found = {"ours": sys.executable, "walk": sys.executable}
    wanted = {"parse": (args.python_of_parser, "tree-sitter", PARSER), "aider_map": (args.python_of_aider, "aider", AIDER)}
    for script, (given, name, packages) in wanted.items():
        if args.quick and script == "aider_map":
            continue
        try:
            found[script] = given or environment(Path(args.envs) if args.envs else folder / "envs", name, packages)
        except (RuntimeError, OSError, subprocess.CalledProcessError) as why:
            print(f"without {name}: {why}", file=sys.stderr)
    return found


def asked() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tree", type=Path)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--copies", type=int, default=0, help="measure also this many copies of the tree in one")
    parser.add_argument("--quick", action="store_true", help="without aider; nothing is written")
    parser.add_argument("--envs", help="folder for the environments of peers")
    parser.add_argument("--python-of-aider", help="of an environment that has aider-chat already")
    parser.add_argument("--python-of-parser", help="of an environment that has tree-sitter and its Python grammar already")
    return parser.parse_args()


def main() -> None:
    args = asked()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        tree = folder / "tree"
        ring = Ring(tree, folder / "state", pythons(args, folder))
        for copy in (tree, ring.aiders):
            shutil.copytree(args.tree, copy, symlinks=True)
        time.sleep(SETTLED)
        by_size = sorted(tree.rglob("*.py"), key=lambda file: file.stat().st_size)
        rounds(ring, args.rounds, by_size[len(by_size) * 3 // 4].relative_to(tree))
        result: dict[str, Any] = {"python": platform.python_version(), "rounds": args.rounds, "spent": summary(ring)}
        result["beside"] = beside(ring)
        if args.copies:
            result["large"] = at_scale(args.tree, folder, args.copies, 1 if args.rounds < 5 else 3)
    print(table(result))
    if not args.quick:
        RESULTS.write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
