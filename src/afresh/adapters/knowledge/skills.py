"""Agent Skills: folders with a SKILL.md, read where a repository has them, and written from an object of our own."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from afresh.adapters.knowledge.folder import Stamp, contents, slug, vanishing, write
from afresh.adapters.knowledge.parse import Note, Unreadable, decoded, matter, split_matter, words
from afresh.adapters.store.place import refuse_links
from afresh.domain.fit import GENERAL
from afresh.domain.knowledge import PARTS, Knowledge, part, quoted
from afresh.domain.text import one_line
from afresh.domain.words import stem
from afresh.errors import BadInput

PLACES = (".claude/skills", ".agents/skills", ".afresh/skills")
FILE = "SKILL.md"
MOST = 200
NAME = 64
DESCRIPTION = 1024
"""Characters that the format allows."""


@dataclass(frozen=True, slots=True)
class Skill:
    path: str
    """From the root of the repository, as one would read it."""
    name: str
    description: str
    body: str
    stamp: Stamp = ()


def skills(root: Path, before: Mapping[str, Skill]) -> tuple[list[Skill], list[Note]]:
    """The skills of a tree, and what is wrong with those that can't be used. No link is followed. What was read before is read
    again only when it has changed."""
    found, notes = list[Skill](), list[Note]()
    for path in paths(root):
        name = path.relative_to(root).as_posix()
        with vanishing():
            seen = path.lstat()
            stamp = (seen.st_mtime_ns, seen.st_ctime_ns, seen.st_size, seen.st_ino)
            known = before.get(name)
            try:
                found.append(known if known and known.stamp == stamp else Skill(name, *read(name, contents(path)), stamp))
            except Unreadable as fault:
                notes.append(Note(name, fault.line, fault.what))
            except PermissionError:
                notes.append(Note(name, 1, "can't be read: permission denied"))
    return found, notes


def paths(root: Path) -> Iterator[Path]:
    for place in PLACES:
        folder = root / place
        if folder.parent.is_symlink() or folder.is_symlink() or not folder.is_dir():
            continue
        for one in sorted(folder.iterdir())[:MOST]:
            if not one.is_symlink() and (one / FILE).is_file() and not (one / FILE).is_symlink():
                yield one / FILE


def read(path: str, data: bytes) -> tuple[str, str, str]:
    text = decoded(data)
    found = split_matter(text)
    given = matter(found.head) if found else {}
    try:
        name, description = (words(given[key][1]).strip() if key in given else "" for key in ("name", "description"))
    except ValueError as fault:
        raise Unreadable(2, f"name and description: {fault}") from None
    if not found or not description:
        raise Unreadable(1, "has no description in its front matter, so nothing says when it fits")
    return name or path.split("/")[-2], description, found.body.replace("\r\n", "\n").strip()


def export(one: Knowledge, folder: Path) -> Path:
    """A folder with a SKILL.md. One that exists is not replaced."""
    name = skill_name(one)
    place = folder / name
    refuse_links(folder, place)
    if (place / FILE).exists() or (place / FILE).is_symlink():
        raise BadInput(f"{place / FILE} exists already", next="remove it, or give another folder", safe="no file was changed")
    place.mkdir(parents=True, exist_ok=True)
    write(place / FILE, skill_text(one, name).encode())
    return place / FILE


def skill_name(one: Knowledge) -> str:
    """Small letters, digits and hyphens. What tells the object from others comes before its id."""
    told = [word for word in slug(one.title).split("-") if stem(word) not in GENERAL or len(word) > 6]
    tail = re.sub(r"[^a-z0-9]+", "-", one.id.lower()).strip("-")
    return f"{'-'.join(told)[: NAME - len(tail) - 1].strip('-')}-{tail}".strip("-")[:NAME].strip("-")


def skill_text(one: Knowledge, name: str) -> str:
    problem = one_line(part(one.body, PARTS[0]) or one.title)
    about = problem if problem.startswith(one.title.rstrip("…")) else f"{one.title}. {problem}"
    when = f" Use it for tasks that concern {', '.join(one.tags)}." if one.tags else ""
    description = one_line(about, DESCRIPTION - len(when)) + when
    head = [f"name: {name}", f"description: {quoted(description)}"]
    return "\n".join(["---", *head, "---", "", f"# {one.title}", "", one.body.strip(), ""])
