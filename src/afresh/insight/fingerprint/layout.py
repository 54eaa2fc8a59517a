"""Languages, folders and where a run begins."""

import re
from collections import Counter
from collections.abc import Iterable

from afresh.domain.paths import holds_tests
from afresh.domain.text import cut
from afresh.insight.configuration import Configuration, json, table, texts, toml
from afresh.insight.fingerprint.facts import Layout
from afresh.insight.fingerprint.rounded import counted, ranked, tenths
from afresh.insight.fingerprint.sources import BESIDE, LANGUAGES, TESTING, Sources

PAPERS = re.compile(
    r"(?:CHANGE(?:LOG|S)|CONTRIBUTING|ARCHITECTURE|HISTORY|NEWS|SECURITY)(?:\.\w+)?|docs/(?:decisions|adr|architecture)[\w./-]*"
)
MOST = 6


def layout(sources: Sources) -> Layout:
    total = sum(len(paths) for paths in sources.written.values())
    counts = {name: tenths(len(paths), total) for name, paths in sources.written.items()}
    spoken = sorted((name for name in counts if counts[name]), key=lambda name: (-counts[name], name))
    understood = {LANGUAGES.get(path.rpartition(".")[2].lower()) for path in sources.code.files}
    title, words = named(sources.configuration)
    return Layout(
        name=title,
        about=words,
        languages=tuple(f"{name} {counts[name]}/10" if counts[name] < 10 else name for name in spoken[:4]),
        main=sources.main,
        files=f"{counted(len(sources.shipped), 'source file')}, {counted(sum(map(holds_tests, sources.tests)), 'test file')}",
        roots=sources.roots,
        tests=test_folders(sources),
        mirrored=mirrored(sources),
        beside=beside(sources.code.paths),
        entries=tuple(entries(sources)),
        shared=tuple(path for path in sources.code.paths if path.endswith("conftest.py"))[:3],
        papers=tuple(path for path in sources.code.paths if PAPERS.fullmatch(path))[:MOST],
        unread=tuple(name for name in spoken[:2] if name not in understood),
    )


def named(configuration: Configuration) -> tuple[str, str]:
    """What the project calls itself, and what it says that it is."""
    package = json(configuration.text("package.json"))
    crate = table(toml(configuration.text("Cargo.toml")), "package")
    poetry = table(configuration.project, "tool", "poetry")
    for held in (table(configuration.project, "project"), poetry, package, crate):
        if names := texts(held.get("name")):
            return names[0], first_sentence((texts(held.get("description")) or [""])[0])
    if match := re.search(r"^module\s+(\S+)", configuration.text("go.mod"), re.MULTILINE):
        return match[1], ""
    return "", ""


def first_sentence(text: str) -> str:
    first = re.split(r"(?<=\w)\.\s", " ".join(text.split()))[0].rstrip(".")
    return first if len(first) <= 90 else cut(first, 90).rpartition(" ")[0] + " …"


def test_folders(sources: Sources) -> tuple[str, ...]:
    """The topmost folders that hold tests; `beside the code` where there are none of their own."""
    counts: Counter[str] = Counter()
    for path in sources.tests:
        parts = path.split("/")[:-1]
        at = next((number for number, part in enumerate(parts) if part in TESTING), None)
        counts["/".join(parts[: at + 1]) if at is not None else "beside the code"] += 1
    return tuple(name for name in ranked(counts) if counts[name] * 20 >= len(sources.tests))[:3]


def mirrored(sources: Sources) -> bool:
    """Most folders below the tests are named as folders of the code are."""
    inner = {folder.rpartition("/")[2] for folder in (path.rpartition("/")[0] for path in sources.shipped)}
    below = {
        parts[at + 1]
        for parts in (path.split("/")[:-1] for path in sources.tests)
        for at in [next((number for number, part in enumerate(parts) if part in TESTING), len(parts))]
        if len(parts) > at + 1
    }
    return len(below) >= 3 and len(below & inner) * 2 > len(below)


def beside(paths: Iterable[str]) -> tuple[str, ...]:
    tops = {path.partition("/")[0] for path in paths if "/" in path}
    return tuple(sorted(tops & BESIDE))[:MOST]


def entries(sources: Sources) -> list[str]:
    """Commands that the project installs, then files that are meant to be started."""
    configuration = sources.configuration
    scripts = table(configuration.project, "project", "scripts") or table(configuration.project, "tool", "poetry", "scripts")
    found = [f"{name} = {target}" for name, target in sorted(scripts.items()) if isinstance(target, str)]
    binaries = json(configuration.text("package.json")).get("bin")
    found += [f"{name} = {place}" for name, place in sorted(binaries.items())] if isinstance(binaries, dict) else texts(binaries)
    crate = toml(configuration.text("Cargo.toml")).get("bin")
    for held in crate if isinstance(crate, list) else []:
        if isinstance(held, dict) and isinstance(held.get("name"), str) and isinstance(held.get("path"), str):
            found.append(f"{held['name']} = {held['path']}")
    packages = [path.removesuffix("/__main__.py") for path in sources.shipped if path.endswith("/__main__.py")]
    found += [f"python -m {name.removeprefix('src/').replace('/', '.')}" for name in packages]
    begun = sources.code.entries
    started = [path for path in sources.understood if path in begun and not BESIDE & {*path.split("/")}]
    told = " ".join(found)
    found += [path for path in started if (not path.endswith(".py") or "/" not in path) and path not in told]
    return found[:4]
