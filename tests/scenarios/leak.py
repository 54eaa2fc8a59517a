"""A project full of canaries, and a search for them wherever another project keeps or shows anything."""

import json
import shutil
import sqlite3
import subprocess
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

from person import CALC, CHECK, COMPLETE, MEND, TEST, Person, Step

WORDS = "the ledger rounds every amount of double"
"""What both projects speak of, so that whatever looks for words would find the other's."""
PLACES = (
    "agent", "agents", "claude", "cursor", "folder agent", "task rules", "source", "file name", "folder name", "test name",
    "skill", "template name", "template", "config", "message", "branch", "remote", "git user", "approved", "draft",
    "check", "untracked", "ignored", "installed", "goal", "rule", "corrected", "forgotten", "thought", "note", "failed",
    "decision", "output", "long output", "written", "summary", "question", "answer", "kept", "subject", "search",
)  # fmt: skip


def canary(place: str) -> str:
    """Letters only, so that it stays whole wherever words are taken apart."""
    digest = sha256(f"canary {place}".encode()).digest()
    return "zq" + "".join(chr(ord("a") + byte % 26) for byte in digest[:10])


@dataclass(frozen=True)
class Full:
    """A project that holds a canary in each of its places, and the names that others may try."""

    person: Person
    places: tuple[str, ...]
    tasks: tuple[str, ...] = ()
    blocks: tuple[str, ...] = ()
    facts: tuple[str, ...] = ()
    objects: tuple[str, ...] = ()

    def canaries(self, but: Iterable[str] = ()) -> dict[str, str]:
        return {canary(place): place for place in self.places if place not in but}


@dataclass
class Count:
    """How much was looked at."""

    windows: int = 0
    texts: int = 0
    pairs: int = 0
    found: set[str] = field(default_factory=set[str])

    def look(self, texts: Iterable[str], canaries: Mapping[str, str], where: str) -> None:
        for text in texts:
            self.texts += 1
            self.pairs += len(canaries)
            small = text.lower()
            self.found.update(f"{place} in {where}" for word, place in canaries.items() if word in small)


def repository(folder: Path, files: Mapping[str, str] = {}) -> Person:
    one = Person(folder)
    one.repo.mkdir(parents=True)
    one.git("init", "-q", "-b", "main")
    for path, text in {"calc.py": CALC, "test_calc.py": TEST, **files}.items():
        one.write(path, text)
    one.commit()
    return one


def fill(folder: Path, places: Sequence[str] = PLACES) -> Full:
    """Every command of a person's that can leave something behind; places that are not asked for hold plain words."""
    put = {place: canary(place) if place in places else f"plain{place.replace(' ', '')}" for place in PLACES}
    one = repository(folder, tracked(put))
    beside(one, put)
    worked(one, put)
    first, second = told(one, put)
    assert one.types("export").code == 0
    full = Full(one, tuple(places), (first, second))
    held = everything(one)
    missing = [place for place in places if canary(place) not in held]
    assert not missing, f"no canary was put into {missing}"
    return replace(full, blocks=tuple(blocks(one)), facts=tuple(facts(one)), objects=tuple(objects(one)))


def tracked(put: Mapping[str, str]) -> dict[str, str]:
    return {
        "AGENTS.md": f"Keep {WORDS} {put['agents']} as it is.\n",
        "CLAUDE.md": f"Mind {WORDS} {put['claude']}.\n",
        ".cursorrules": f"Mind {WORDS} {put['cursor']}.\n",
        f"{put['folder name']}/AGENTS.md": f"Here {WORDS} {put['folder agent']}.\n",
        f"{put['folder name']}/{put['file name']}.py": f"# {WORDS}\n{put['source'].upper()} = 1\n",
        "test_ledger.py": f"from unittest import TestCase\n\n\nclass L(TestCase):\n    def test_{put['test name']}(self): ...\n",
        ".claude/skills/ledger/SKILL.md": f"---\nname: ledger\ndescription: {WORDS}, always\n---\n{put['skill']}\n",
        ".gitignore": "ignored.txt\nnode_modules\n",
    }


def beside(one: Person, put: Mapping[str, str]) -> None:
    """Files that git does not carry, and what git knows beside files."""
    one.write(".afresh/AGENT.md", f"Always {put['agent']}: {WORDS}.\n")
    one.write(".afresh/tasks/fix_bug.md", f"When mending {put['task rules']}.\n")
    one.write(f".afresh/templates/{put['template name']}.yaml", f"extends: fix_bug\nabout: For {put['template']}\n")
    one.write(".afresh/config.toml", f'checks = ["{CHECK}", "true {put["config"]}"]\n')
    for folder, status in (("approved", "approved"), ("drafts", "draft")):
        text = f"## Problem\n{WORDS}\n\n## What worked\nLook into {put['approved' if folder == 'approved' else 'draft']}.\n"
        head = f"id: KO-{folder}\ntitle: {WORDS}\ntags: [ledger, double, rounds]\nstatus: {status}\n"
        one.write(f".afresh/knowledge/{folder}/KO-{folder}.md", f"---\n{head}---\n{text}")
    one.write("untracked.txt", f"{WORDS} {put['untracked']}\n")
    one.write("node_modules/ledger/index.js", f"// {WORDS} {put['installed']}\n")
    one.write("ignored.txt", f"{WORDS} {put['ignored']}\n")
    one.git("config", "user.name", put["git user"])
    one.git("remote", "add", "origin", f"https://example.invalid/{put['remote']}.git")
    one.git("branch", put["branch"])
    one.git("commit", "-q", "--allow-empty", "-m", f"Round {put['message']}")


def worked(one: Person, put: Mapping[str, str]) -> None:
    """A task that is verified, so that knowledge comes of it."""
    wrong: Step = ("edit", {"path": "calc.py", "old": "x + 2", "new": f"x + 3  # {put['failed']}"})
    note: Step = ("note", {"subject": f"double {put['subject']}", "text": f"{WORDS} {put['note']}"})
    chosen: Step = ("note", {"subject": "ledger", "text": f"{WORDS} {put['decision']}", "why": "it is exact"})
    done: Step = ("complete", {"summary": f"Multiply\n\n{WORDS} {put['summary']}"})
    steps: list[list[Step]] = [
        [("read", {"path": "calc.py"}), note, chosen, ("search", {"text": put["search"]})],
        [("run", {"command": f"echo '{WORDS} {put['output']}'; seq 900 | sed 's/$/ {put['long output']} of double/'"})],
        [wrong], [("note", {"subject": "compact", "text": f"{WORDS} {put['kept']}"})],
        [("edit", {"path": "ledger.txt", "new": f"{WORDS} {put['written']}\n"}), MEND], [done],
    ]  # fmt: skip
    script = scripted(one, steps, f"I think of {put['thought']}")
    done_ = one.runs(script, "--no-sandbox", "--check", f"true {put['check']}", goal=f"{WORDS} {put['goal']}: mend it")
    assert done_.code == 0, done_.err


def told(one: Person, put: Mapping[str, str]) -> tuple[str, str]:
    """A task that waits and is answered, and what a person says to memory."""
    ask: Step = ("ask", {"question": f"Shall {WORDS} {put['question']}?"})
    script = scripted(one, [[ask], [COMPLETE]])
    first = one.shown()["task"]["id"]
    one.runs(script, "--no-sandbox", goal=f"{WORDS}: ask first")
    second = one.shown()["task"]["id"]
    assert one.types("answer", second, f"Yes: {WORDS} {put['answer']}").code == 0
    for text in (f"{WORDS} {put['rule']}", "first words on the ledger", f"{WORDS} {put['forgotten']}"):
        assert one.types("memory", "add", text).code == 0
    for row in one.types("memory", "list", "--kind", "rule", "--json").json:
        if row["text"] == "first words on the ledger":
            assert one.types("memory", "correct", row["id"], f"{WORDS} {put['corrected']}").code == 0
        elif put["forgotten"] in row["text"]:
            assert one.types("memory", "forget", row["id"]).code == 0
    return first, second


def scripted(one: Person, steps: Sequence[Sequence[Step]], thought: str = "", name: str = "steps") -> str:
    path = one.folder / f"{name}.jsonl"
    lines = [{"thought": thought, "actions": [{"tool": tool, "args": args} for tool, args in step]} for step in steps]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return f"scripted:{path}"


def everything(one: Person) -> str:
    git = [one.git("log", "--all", "--format=%B%an"), one.git("branch", "-a"), one.git("remote", "-v"), one.git("config", "-l")]
    names = "\n".join(str(path.relative_to(one.repo)) for path in one.repo.rglob("*"))
    return "\n".join([*git, names, *(text for _, text in kept(one.repo))]).lower()


def kept(folder: Path) -> Iterator[tuple[str, str]]:
    """All that stands in the files of a folder, databases and git's objects unpacked, each with its path."""
    for path in sorted(folder.rglob("*")):
        if path.is_symlink() or not path.is_file():
            continue
        name = path.relative_to(folder).as_posix()
        yield name, name
        data = path.read_bytes()
        yield name, data.decode("utf-8", "replace")
        if path.suffix == ".db":
            yield from ((name, text) for text in cells(path))
        elif "objects" in path.parts:
            yield name, plain(data)


def cells(path: Path) -> Iterator[str]:
    with sqlite3.connect(path) as connection:
        tables = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        for table in tables:
            rows: list[tuple[Any, ...]] = connection.execute(f'SELECT * FROM "{table}"').fetchall()
            yield from (plain(value) if isinstance(value, bytes) else str(value) for row in rows for value in row)


def plain(data: bytes) -> str:
    try:
        return zlib.decompress(data).decode("utf-8", "replace")
    except zlib.error:
        return data.decode("utf-8", "replace")


def blocks(one: Person) -> list[str]:
    with sqlite3.connect(one.state / "afresh.db") as connection:
        return [row[0].hex() for row in connection.execute("SELECT id FROM block")]


def facts(one: Person) -> list[str]:
    return [row["id"] for row in one.types("memory", "list", "-n", "100", "--json").json]


def objects(one: Person) -> list[str]:
    return [row["id"] for row in one.types("knowledge", "list", "--json").json["objects"]]


def copied(full: Full, folder: Path) -> Full:
    shutil.copytree(full.person.folder, folder, symlinks=True)
    return replace(full, person=Person(folder))


def cloned(full: Full, folder: Path) -> Person:
    folder.mkdir()
    subprocess.run(["git", "clone", "-q", full.person.repo, folder / "repo"], check=True, capture_output=True)
    return Person(folder)


def worktree(full: Full, folder: Path) -> Person:
    folder.mkdir()
    full.person.git("worktree", "add", "-q", str(folder / "repo"), "-b", "beside")
    return Person(folder)
