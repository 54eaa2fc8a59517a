"""Languages, folders and where a run begins."""

import re
from collections import Counter
from collections.abc import Iterable

from afresh.domain.paths import is_test_file
from afresh.domain.text import truncate_text
from afresh.insight.configuration import ProjectConfiguration, parse_json, get_table, list_texts, parse_toml
from afresh.insight.fingerprint.facts import ProjectLayout
from afresh.insight.fingerprint.rounded import count_to_words, rank_by_magnitude, share_to_tenths
from afresh.insight.fingerprint.sources import SUPPORT_FOLDERS, LANGUAGE_BY_EXTENSION, TEST_FOLDERS, SourceFiles

DOCUMENT_FILE = re.compile(
    r"(?:CHANGE(?:LOG|S)|CONTRIBUTING|ARCHITECTURE|HISTORY|NEWS|SECURITY)(?:\.\w+)?|docs/(?:decisions|adr|architecture)[\w./-]*"
)
MAX_LISTED_PATHS = 6


def measure_layout(sources: SourceFiles) -> ProjectLayout:
    total = sum(len(paths) for paths in sources.written.values())
    counts = {name: share_to_tenths(len(paths), total) for name, paths in sources.written.items()}
    spoken = sorted((name for name in counts if counts[name]), key=lambda name: (-counts[name], name))
    understood = {LANGUAGE_BY_EXTENSION.get(path.rpartition(".")[2].lower()) for path in sources.code.files}
    title, words = read_project_name(sources.configuration)
    return ProjectLayout(
        name=title,
        about=words,
        languages=tuple(f"{name} {counts[name]}/10" if counts[name] < 10 else name for name in spoken[:4]),
        main=sources.main,
        files=f"{count_to_words(len(sources.shipped), 'source file')}, {count_to_words(sum(map(is_test_file, sources.tests)), 'test file')}",
        roots=sources.roots,
        tests=find_test_folders(sources),
        mirrored=has_mirrored_tests(sources),
        beside=find_support_folders(sources.code.paths),
        entries=tuple(find_entry_points(sources)),
        shared=tuple(path for path in sources.code.paths if path.endswith("conftest.py"))[:3],
        papers=tuple(path for path in sources.code.paths if DOCUMENT_FILE.fullmatch(path))[:MAX_LISTED_PATHS],
        unread=tuple(name for name in spoken[:2] if name not in understood),
    )


def read_project_name(configuration: ProjectConfiguration) -> tuple[str, str]:
    """What the project calls itself, and what it says that it is."""
    package = parse_json(configuration.text("package.json"))
    crate = get_table(parse_toml(configuration.text("Cargo.toml")), "package")
    poetry = get_table(configuration.project, "tool", "poetry")
    for held in (get_table(configuration.project, "project"), poetry, package, crate):
        if names := list_texts(held.get("name")):
            return names[0], truncate_to_sentence((list_texts(held.get("description")) or [""])[0])
    if match := re.search(r"^module\s+(\S+)", configuration.text("go.mod"), re.MULTILINE):
        return match[1], ""
    return "", ""


def truncate_to_sentence(text: str) -> str:
    first = re.split(r"(?<=\w)\.\s", " ".join(text.split()))[0].rstrip(".")
    return first if len(first) <= 90 else truncate_text(first, 90).rpartition(" ")[0] + " …"


def find_test_folders(sources: SourceFiles) -> tuple[str, ...]:
    """The topmost folders that hold tests; `beside the code` where there are none of their own."""
    counts: Counter[str] = Counter()
    for path in sources.tests:
        parts = path.split("/")[:-1]
        at = next((number for number, part in enumerate(parts) if part in TEST_FOLDERS), None)
        counts["/".join(parts[: at + 1]) if at is not None else "beside the code"] += 1
    return tuple(name for name in rank_by_magnitude(counts) if counts[name] * 20 >= len(sources.tests))[:3]


def has_mirrored_tests(sources: SourceFiles) -> bool:
    """Most folders below the tests are named as folders of the code are."""
    inner = {folder.rpartition("/")[2] for folder in (path.rpartition("/")[0] for path in sources.shipped)}
    below = {
        parts[at + 1]
        for parts in (path.split("/")[:-1] for path in sources.tests)
        for at in [next((number for number, part in enumerate(parts) if part in TEST_FOLDERS), len(parts))]
        if len(parts) > at + 1
    }
    return len(below) >= 3 and len(below & inner) * 2 > len(below)


def find_support_folders(paths: Iterable[str]) -> tuple[str, ...]:
    tops = {path.partition("/")[0] for path in paths if "/" in path}
    return tuple(sorted(tops & SUPPORT_FOLDERS))[:MAX_LISTED_PATHS]


def find_entry_points(sources: SourceFiles) -> list[str]:
    """Commands that the project installs, then files that are meant to be started."""
    configuration = sources.configuration
    scripts = get_table(configuration.project, "project", "scripts") or get_table(
        configuration.project, "tool", "poetry", "scripts"
    )
    found = [f"{name} = {target}" for name, target in sorted(scripts.items()) if isinstance(target, str)]
    binaries = parse_json(configuration.text("package.json")).get("bin")
    found += (
        [f"{name} = {place}" for name, place in sorted(binaries.items())] if isinstance(binaries, dict) else list_texts(binaries)
    )
    crate = parse_toml(configuration.text("Cargo.toml")).get("bin")
    for held in crate if isinstance(crate, list) else []:
        if isinstance(held, dict) and isinstance(held.get("name"), str) and isinstance(held.get("path"), str):
            found.append(f"{held['name']} = {held['path']}")
    packages = [path.removesuffix("/__main__.py") for path in sources.shipped if path.endswith("/__main__.py")]
    found += [f"python -m {name.removeprefix('src/').replace('/', '.')}" for name in packages]
    begun = sources.code.entries
    started = [path for path in sources.understood if path in begun and not SUPPORT_FOLDERS & {*path.split("/")}]
    told = " ".join(found)
    found += [path for path in started if (not path.endswith(".py") or "/" not in path) and path not in told]
    return found[:4]
