"""Section `similar`: the nearest thing that exists already, and where it is wired in."""

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from keyword import iskeyword
from math import log
from pathlib import PurePosixPath

from afresh.domain.code import Import, Kind, Place, Symbol
from afresh.domain.fact import Look
from afresh.domain.text import one_line
from afresh.domain.words import split, stem, telling
from afresh.errors import AfreshError
from afresh.insight.looks import relevance
from afresh.insight.looks.excerpts import excerpt
from afresh.insight.looks.expectations import EXPECTED
from afresh.insight.looks.naming import named_files
from afresh.insight.looks.scene import NOISE, Scene, aside, listed
from afresh.insight.looks.targets import CHANGED, MEANT, NAMED, order, wording
from afresh.insight.ranking.meant import sure

SIZE = 40
SHORT = 4
KIN = 3
TOLD = 4
WIRED = 9
PROSE = 60
LARGEST = 200_000
SEVERAL = 3
"""Lines of a pattern that is shown whole, and of one that shows nothing; definitions alike that make a family; patterns that are
told of by signature; places of one that are told; texts that are looked through for it, and characters of one; and lines of a
file of which the most telling is shown."""
LIKE_AN_OPTION = re.compile(r"(\w{3,})=|--([A-Za-z]\w{2,})|[`'\"](\w{3,})[`'\"]")
TEXTS = (".md", ".rst", ".txt", ".toml", ".cfg", ".ini", ".yaml", ".yml", ".json")
IMPORTED = 300
"""Characters of the names that a test file has imported."""
FAMILY = 1.0
ALIKE = 2.0
LIKELY = 0.5
MANY = 12
EVERYWHERE = 8
"""What it counts to be one of many that are made alike, and to be made like what the task is about; the part of the best score
from which on the ranking is trusted; files that are looked through; and files that may share a mark in any project."""
FEW = 40
FIFTH = 4
FLAT = 0.87
"""In a project of more than a few files a ranking whose fifth is nearly as good as its first leads nowhere."""


def similar(scene: Scene) -> Iterator[Look]:
    """Where the best pattern is wired in, the pattern itself, then others by their signatures."""
    found = tests(scene) if scene.state.task.judged_as == "write_tests" else patterns(scene)
    for name in options(scene)[:1]:
        if lines := list(standing(scene, name)):
            yield Look("similar", f"where {name} stands, which the task names", "\n".join(lines[:WIRED]))
    if not found:
        return
    (best, why), *others = found
    path, symbol = best.path, best.symbol
    if not scene.code.is_test(path) and (lines := list(wiring(scene, best))):
        yield Look("similar", f"where {name_of(best)} is wired in", "\n".join(lines[:WIRED]))
    if not scene.seen(path, symbol.line, symbol.end):
        yield Look("similar", f"{path}:{symbol.line}-{symbol.end} {symbol.name}, {why}", excerpt(scene, best, SIZE))
    if scene.code.is_test(path):
        names = dict.fromkeys(here for one in scene.code.reading(path).imports for here in imported(one))
        yield Look("similar", f"imported in {path}", one_line(", ".join(names), IMPORTED))
    if others:
        lines = [f"{place} {place.symbol.signature}" for place, _ in others[:TOLD]]
        yield Look("similar", "others like it", "\n".join(lines))


def patterns(scene: Scene) -> list[tuple[Place, str]]:
    """By the words of the task, and by what is made alike: decorator, base class, folder. Only in files that the task names,
    beside those that it is about, and where the ranking leads: what merely says a word of it is no pattern."""
    code, text = scene.code, order(scene.state)
    words, named = relevance.weights(code, wording(scene.state)), named_files(code, text)
    folder, about = siblings(scene, text), set(sure(code, text))
    trust = trusted(scene) | dict.fromkeys((*named, *folder), 1.0)
    scores = {path: score for path, score in relevance.files(code, words).items() if path in trust and there_before(scene, path)}
    near = [path for path in (*named, *folder) if path in scores] or [path for path in scores if path not in about]
    kinds, found = made_like(scene, about), list[tuple[float, Place, str]]()
    for path in sorted(near, key=lambda path: (-scores[path], path))[:MANY]:
        held = marks(scene, path)
        kin = family(held)
        for symbol, score in relevance.symbols(code, path, words).items():
            made, size = kin.get(symbol, ""), symbol.end - symbol.line + 1
            fitting = made or path in folder or relevance.named_by(symbol.name, words)
            if symbol.kind is not Kind.METHOD and "." not in symbol.name and size >= SHORT and fitting:
                alike = int(made.split()[0]) if made else 0
                like = ALIKE if kinds & held.get(symbol, set()) else 1.0
                found.append((like * trust[path] * weight(score, size, alike), Place(path, symbol), because(path, made, folder)))
    found.sort(key=lambda one: (-one[0], one[1].path, one[1].symbol.line))
    known = {(one.path, one.symbol.name) for one in scene.targets if one.why in (NAMED, CHANGED, MEANT)}
    return [(place, why) for _, place, why in found if (place.path, place.symbol.name) not in known and not own(scene, place)]


def trusted(scene: Scene) -> dict[str, float]:
    """Files to which the ranking leads, by their score; none where it leads everywhere. What the task has changed leads by that
    alone and is no measure."""
    if len(scene.code.files) > FEW and len(scene.ranked) > FIFTH and scene.ranked[FIFTH].score > FLAT:
        return {}
    scores = {one.path: one.score for one in scene.ranked if not scene.code.is_test(one.path)}
    best = max((score for path, score in scores.items() if path not in scene.state.changed), default=1.0) or 1.0
    return {path: min(1.0, score / best) for path, score in scores.items() if score >= LIKELY * best}


def made_like(scene: Scene, paths: Collection[str]) -> set[str]:
    """Decorators and base classes of what these files offer."""
    return {mark for path in paths for held in marks(scene, path).values() for mark in held}


def marks(scene: Scene, path: str) -> dict[Symbol, set[str]]:
    """What definitions of a file may have in common with others of their kind, as far as that tells: what every fifth file has
    does not."""
    lines, most = scene.code.text(path).splitlines(), max(EVERYWHERE, len(scene.code.files) // 5)
    found: dict[Symbol, set[str]] = {}
    for symbol in scene.code.reading(path).symbols:
        if "." not in symbol.name and symbol.kind in (Kind.FUNCTION, Kind.CLASS):
            decorated = re.match(r"@[\w.]+", lines[symbol.line - 1].strip() if symbol.line <= len(lines) else "")
            found[symbol] = {*([decorated[0]] if decorated else []), *[f"({base})" for base in symbol.bases if base != "object"]}
    names = {mark: (re.findall(r"\w+", mark) or [mark])[-1] for held in found.values() for mark in held}
    common = {mark: len(scene.code.mentioning(name)) for mark, name in names.items()}
    return {symbol: {mark for mark in held if common[mark] <= most} for symbol, held in found.items()}


def there_before(scene: Scene, path: str) -> bool:
    """Code that the task has not made itself: that needs no pattern of its own."""
    return not scene.code.is_test(path) and not scene.made(path, 1, scene.code.reading(path).lines)


def own(scene: Scene, place: Place) -> bool:
    return scene.made(place.path, place.symbol.line, place.symbol.end)


def weight(score: float, size: int, alike: int = 0) -> float:
    """A short one shows the pattern as well as a long one, and leaves room; one of many is more of a pattern than one of few."""
    return (score + FAMILY * log(1 + alike)) / (1 + max(0, size - SIZE) / SIZE)


def because(path: str, made: str, folder: list[str]) -> str:
    if path in folder:
        return f"one of {len(folder)} in {PurePosixPath(path).parent}"
    return f"one of the {made} here" if made else "the nearest by its words"


def siblings(scene: Scene, text: str) -> list[str]:
    """Files beside the one that the task is about; else those of a folder whose name is a word of the task (`a plugin`,
    `plugins/`) and to which the ranking leads: such a thing is a file there. Whoever asks for tests has not said where."""
    if about := sure(scene.code, text):
        beside = [path for path in scene.code.files if PurePosixPath(path).parent == PurePosixPath(about[0]).parent]
        return [path for path in beside if path not in about and PurePosixPath(path).stem != "__init__"]
    said = {stem(word) for word in telling(split(text))} - {"test"}
    folders: dict[str, list[str]] = {}
    for path in scene.code.files:
        pure = PurePosixPath(path)
        if stem(pure.parent.name.lower()) in said and not scene.code.is_test(path) and pure.stem != "__init__":
            folders.setdefault(str(pure.parent), []).append(path)
    top = {scene.code.paths[0].split("/")[0]} if scene.code.paths else set[str]()
    best = {
        str(PurePosixPath(one.path).parent) for one in [one for one in scene.ranked if not scene.code.is_test(one.path)][:KIN]
    }
    large = [found for at, found in folders.items() if len(found) >= KIN and "/" in at and at not in top and at in best]
    return max(large, key=len, default=[])


def family(held: Mapping[Symbol, Collection[str]]) -> dict[Symbol, str]:
    """Definitions that share a decorator or a base class with several others of the file."""
    counts = Counter(mark for found in held.values() for mark in found)
    first = {one: max(found) for one, found in held.items() if found}
    return {one: f"{counts[mark]} {mark}" for one, mark in first.items() if counts[mark] >= KIN}


def tests(scene: Scene) -> list[tuple[Place, str]]:
    """For tests: one that exists beside them, with its imports and fixtures; the nearest by words and by what it covers."""
    code = scene.code
    words = relevance.weights(code, wording(scene.state))
    files = dict.fromkeys(test for path in scene.places if path in code.files for test in code.tests_of(path))
    found: list[tuple[float, Place, str]] = []
    for path in [path for path in files if path in code.files][:6]:
        lines = code.text(path).splitlines()
        for symbol, score in relevance.symbols(code, path, words).items():
            expects = any(EXPECTED.match(line) for line in lines[symbol.line - 1 : symbol.end])
            if symbol.kind is not Kind.CLASS and symbol.short.startswith("test") and expects:
                found.append((weight(score, symbol.end - symbol.line + 1), Place(path, symbol), "a test beside"))
    found.sort(key=lambda one: (-one[0], one[1].path, one[1].symbol.line))
    return [(place, why) for _, place, why in found if not own(scene, place)]


def imported(one: Import) -> list[str]:
    return [here for _, here in one.names] or [one.alias or one.module]


def name_of(place: Place) -> str:
    return place.symbol.short


def options(scene: Scene) -> list[str]:
    """Words that the task writes like a name (`x=`, `--x`, quoted) and that are no definition but stand in the code: an option,
    a key. What is new and named beside it is to stand where it stands; the rarest first."""
    code, text = scene.code, order(scene.state)
    found = dict.fromkeys(match[1] or match[2] or match[3] for match in LIKE_AN_OPTION.finditer(text))
    known = {name: len(code.words(name)) for name in found if not code.defining(name) and not iskeyword(name)}
    return sorted(
        (name for name, count in known.items() if 0 < count <= len(code.files) // 2), key=lambda name: (known[name], name)
    )


def wiring(scene: Scene, best: Place) -> Iterator[str]:
    """Where it is exported, registered, used, tested and documented."""
    code, name = scene.code, name_of(best)
    if len(code.defining(name)) > KIN:
        return  # whoever says the name means any of them
    yield from standing(scene, name, best)
    for path in code.importers(best.path):
        starred = [one.line for one in code.reading(path).imports if ("*", "*") in one.names]
        lines = [number for number in starred if PurePosixPath(best.path).stem in scene.line(path, number)]
        if lines:
            yield f"{path}:{lines[0]} {scene.line(path, lines[0])}"
    if named := [path for path in code.paths if PurePosixPath(path).stem == name and path != best.path]:
        yield f"files of that name: {listed(named, 4)}"


def standing(scene: Scene, name: str, best: Place | None = None) -> Iterator[str]:
    """A line of each file that says the name outside of its definition: code, then tests, then texts. What the task has written
    itself says nothing new."""
    code = scene.code
    own = best.path if best else ""
    texts = [path for path in code.paths if path.endswith(TEXTS) and path not in code.files and not NOISE.search(path)][:PROSE]
    saying = [path for path in (code.files if best is None else code.mentioning(name)) if path != own]
    saying.sort(key=lambda path: (code.is_test(path), aside(path), path))
    for path in (*([own] if own else []), *saying, *texts):
        inside = range(best.symbol.line, best.symbol.end + 1) if best and path == own else ()
        numbers = [one for one in said(scene, path, name) if one not in inside and not scene.made(path, one, one)]
        if numbers and PurePosixPath(path).stem != name:
            shown = max(numbers[:SEVERAL], key=lambda number: (telling_line(scene.line(path, number), name), -number))
            more = f" ({len(numbers)} lines)" if len(numbers) > 1 else ""
            yield f"{path}:{shown}{more} {scene.line(path, shown)}"


def telling_line(line: str, name: str) -> bool:
    """Says more of it than an import or a comment does."""
    return not line.startswith(("import ", "from ", "#", "//", "*"))


def said(scene: Scene, path: str, name: str) -> list[int]:
    try:
        text = scene.code.text(path)
    except AfreshError:
        return []
    return relevance.mentions(text, name) if name in text and len(text) < LARGEST else []
