"""The source tree as a map for a task: what concerns it first, with the signatures that matter and the reason; the rest by name.

It depends on the order, on files that were changed and read, and on the tree: not on the last thought, so that it seldom changes.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from afresh.domain.code import Kind, Symbol
from afresh.domain.paths import is_test
from afresh.domain.state import State
from afresh.domain.text import one_line
from afresh.insight.code import Code
from afresh.insight.looks import relevance
from afresh.insight.looks.naming import named_files
from afresh.insight.looks.relevance import DEFINITIONS
from afresh.insight.looks.scene import NOISE, Scene, aside
from afresh.insight.looks.targets import NAMED, order, wording
from afresh.insight.ranking.meant import sure

LONGEST = 9_000
PER_LINE = 25
SHORTEST = 150
LINE = 220
SIGNATURE = 60
LISTED = 300
CLOSE = 12
LEAST = 0.2
TESTS = 6
"""Characters: of the whole, of one file (one for so many tokens of the ceiling, at least and at most), of a signature, of a list
of others; files that are told of with signatures; the part of the best score that a file must have to be among them because of
the ranking alone; and folders of tests that are listed."""
ABOUT = "what the task speaks of"
READ = (".md", ".rst", ".toml", ".cfg", ".txt", ".yaml", ".yml")


@dataclass(frozen=True, slots=True)
class Near:
    path: str
    why: str


def outline(scene: Scene) -> str:
    code, state, targets = scene.code, scene.state, scene.targets
    near = close(scene)
    words = relevance.weights(code, wording(state))
    width = min(LINE, max(SHORTEST, state.budget // PER_LINE))
    lines = [_told(code, one, words, [target.symbol for target in targets if target.path == one.path], width) for one in near]
    own, tests = _folders(scene, {one.path for one in near})
    tail = [*_others(code, state), *tests, *_faults(code)]
    room = LONGEST - sum(len(line) + 1 for line in tail) - 60
    return "\n".join([*_fitting([*lines, *own], room), *tail])


def close(scene: Scene) -> list[Near]:
    """Named, changed, read, holding what is named; their tests; those that the ranking puts first; and in a small tree all."""
    code, state, targets = scene.code, scene.state, scene.targets
    named, told = named_files(code, order(state)), [one for one in scene.ranked if one.score >= LEAST]
    found = [Near(path, NAMED) for path in sorted(named)]
    found += [Near(path, ABOUT) for path in sure(code, order(state))]
    found += [Near(path, "changed") for path in state.changed if path in code.files]
    found += [Near(target.path, f"holds {target.symbol.name}") for target in targets if target.why == NAMED]
    found += [Near(region.path, "read") for region in state.regions if region.path in code.files and not region.changed]
    reasons = {one.path: one.reasons[0] if one.reasons else "" for one in told}
    central = list(dict.fromkeys(one.path for one in found)) or list(reasons)[:2]
    found += [Near(path, reasons[path]) for path in central if path in reasons]
    for path in [path for path in central if not code.is_test(path)][:3]:
        found += [Near(test, f"tests {PurePosixPath(path).name}") for test in _nearest(code.tests_of(path), path, list(reasons))]
    found += [Near(path, why) for path, why in reasons.items()]
    found += [Near(path, "") for path in code.files if not code.is_test(path)]
    first: dict[str, Near] = {}
    for one in found:
        if not _silent(one.path) or one.why == NAMED:
            first.setdefault(one.path, one)
    return list(first.values())[:CLOSE]


def _silent(path: str) -> bool:
    """What nobody reads: made by tools, or there to make a package of tests."""
    return bool(NOISE.search(path)) or (is_test(path) and path.endswith("/__init__.py"))


def _nearest(tests: Sequence[str], path: str, ranked: Sequence[str]) -> list[str]:
    """Those named after it before those that matter for the task."""
    stem, places = PurePosixPath(path).stem, {test: at for at, test in enumerate(ranked)}
    return sorted(tests, key=lambda test: (stem not in PurePosixPath(test).stem, places.get(test, len(ranked)), test))[:2]


def _told(code: Code, near: Near, words: dict[str, float], wanted: Sequence[Symbol], width: int) -> str:
    """Signatures of what the task is about, then of what says its words, in the order of the file; others are counted."""
    reading = code.reading(near.path)
    held = [one for one in reading.symbols if one.kind in DEFINITIONS and (one.kind is not Kind.METHOD or one in wanted)]
    held = [one for one in held if "." not in one.name or one in wanted]
    scores = relevance.symbols(code, near.path, words) if not reading.fault else {}
    ranked = sorted(held, key=lambda one: (one not in wanted, -scores.get(one, 0.0), one.line))
    line, shown = f"{near.path} ({reading.lines} lines{'; ' * bool(near.why)}{near.why}): ", list[Symbol]()
    for one in ranked:
        if len(line) + sum(len(_signed(other)) + 2 for other in (*shown, one)) > width:
            break
        shown.append(one)
    parts = [_signed(one) for one in sorted(shown, key=lambda one: one.line)]
    more = [f"… {len(held) - len(shown)} more"] if len(held) > len(shown) else []
    return (line + ", ".join([*parts, *more])).rstrip(": ")


def _signed(symbol: Symbol) -> str:
    plain = re.sub(r"^(?:async )?def ", "", symbol.signature)
    return f"{symbol.line} {one_line(plain, SIGNATURE)}"


def _folders(scene: Scene, told: set[str]) -> tuple[list[str], list[str]]:
    """The other files of code, by folder, those of files that matter first and what lies beside the product last; and those of
    tests."""
    code, folders = scene.code, dict[tuple[bool, str], list[str]]()
    for path in code.files:
        if path not in told and not _silent(path):
            folders.setdefault((code.is_test(path), str(PurePosixPath(path).parent)), []).append(PurePosixPath(path).name)
    places: dict[str, int] = {}
    for at, path in enumerate([*sure(code, order(scene.state)), *[one.path for one in scene.ranked]]):
        places.setdefault(str(PurePosixPath(path).parent), at)
    keys = sorted(folders, key=lambda key: (aside(key[1]), places.get(key[1], len(code.files)), key))
    lines = {key: f"{'top' if key[1] == '.' else key[1]}: {_listed(folders[key])}" for key in keys}
    tests = [line for key, line in lines.items() if key[0]]
    more = [f"… and {len(tests) - TESTS} more folders of tests"] if len(tests) > TESTS else []
    return [line for key, line in lines.items() if not key[0]], [*tests[:TESTS], *more]


def _others(code: Code, state: State) -> list[str]:
    words, known = mentioned(state), set(code.files)
    other = [path for path in code.paths if path not in known and not NOISE.search(path)]
    other.sort(key=lambda path: (unlikely(path, words), path))
    return ["other files: " + _listed(other)] if other else []


def _faults(code: Code) -> list[str]:
    faults = [f"{path} ({fault})" for path, fault in sorted(code.faults.items()) if not NOISE.search(path)]
    return ["not understood: " + _listed(faults)] if faults else []


def _fitting(lines: list[str], room: int) -> list[str]:
    kept: list[str] = []
    for line in lines:
        room -= len(line) + 1
        if room < 0:
            return [*kept, f"… and {len(lines) - len(kept)} more lines: use search"]
        kept.append(line)
    return kept


def unlikely(path: str, words: frozenset[str]) -> int:
    """What the task speaks of, what people read, the rest, what is hidden."""
    if path in words or PurePosixPath(path).name in words:
        return 0
    if path.startswith(".") or "/." in path:
        return 3
    return 1 if path.endswith(READ) else 2


def mentioned(state: State) -> frozenset[str]:
    """Words of the goal, the user, the plan and the facts."""
    texts = [state.task.goal, *state.words, *(item.text for item in state.plan)]
    texts += [f"{fact.subject} {fact.text}" for fact in state.facts]
    return frozenset(re.findall(r"[\w./-]+", " ".join(texts)))


def rank(path: str, state: State, words: frozenset[str]) -> int:
    """Which violations come first."""
    pure = PurePosixPath(path)
    if path in words or path in state.changed:
        return 0
    if any(region.path == path for region in state.regions) or pure.name in words or (pure.stem in words and len(pure.stem) > 3):
        return 1
    return 2


def _listed(names: Sequence[str]) -> str:
    kept = list(names[:24])
    while len(kept) > 1 and len(", ".join(kept)) > LISTED - 20:
        kept.pop()
    more = len(names) - len(kept)
    return ", ".join(kept)[: LISTED - 20] + (f" and {more} more" if more else "")
