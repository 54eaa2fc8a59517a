"""Agent Skills: folders with a SKILL.md, read where a repository has them, and written from an object of our own."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from afresh.config.yaml_reader import FileFault, InvalidValue, decode_utf8, split_front_matter
from afresh.core.lesson import LESSON_HEADINGS, Lesson, get_heading_text
from afresh.core.lesson_match import GENERAL_WORDS
from afresh.core.search_words import stem_word
from afresh.core.truncate import to_one_line
from afresh.errors import BadInput
from afresh.storage.lessons.lesson_file import MAX_LESSON_BYTES, parse_front_matter, quote_yaml, require_text
from afresh.storage.lessons.lesson_folder import FileStamp, ignore_missing_file, make_slug, read_file_bytes
from afresh.workspace.disk_files import refuse_symlinks, replace_file

SKILL_FOLDERS = (".claude/skills", ".agents/skills", ".afresh/skills")
SKILL_FILE_NAME = "SKILL.md"
MAX_SKILLS_PER_FOLDER = 200
MAX_NAME_CHARACTERS = 64
MAX_DESCRIPTION_CHARACTERS = 1024
"""Characters that the format allows."""


@dataclass(frozen=True, slots=True)
class AgentSkill:
    path: str
    """Path from the root of the repository."""
    name: str
    description: str
    body: str
    stamp: FileStamp = ()


def read_skills(root: Path, before: Mapping[str, AgentSkill]) -> tuple[list[AgentSkill], list[FileFault]]:
    """The skills of a tree, and what is wrong with those that can't be used. No link is followed. What was read before is read
    again only when it has changed."""
    skills, notes = list[AgentSkill](), list[FileFault]()
    for path in list_skill_files(root):
        name = path.relative_to(root).as_posix()
        with ignore_missing_file():
            seen = path.lstat()
            stamp = (seen.st_mtime_ns, seen.st_ctime_ns, seen.st_size, seen.st_ino)
            known = before.get(name)
            try:
                skills.append(
                    known
                    if known and known.stamp == stamp
                    else AgentSkill(name, *parse_skill(name, read_file_bytes(path)), stamp)
                )
            except InvalidValue as fault:
                notes.append(fault.in_file(name))
            except PermissionError:
                notes.append(FileFault(name, 1, "", "can't be read: permission denied"))
    return skills, notes


def list_skill_files(root: Path) -> Iterator[Path]:
    for place in SKILL_FOLDERS:
        folder = root / place
        if folder.parent.is_symlink() or folder.is_symlink() or not folder.is_dir():
            continue
        for path in sorted(folder.iterdir())[:MAX_SKILLS_PER_FOLDER]:
            if not path.is_symlink() and (path / SKILL_FILE_NAME).is_file() and not (path / SKILL_FILE_NAME).is_symlink():
                yield path / SKILL_FILE_NAME


def parse_skill(path: str, data: bytes) -> tuple[str, str, str]:
    front_matter = split_front_matter(decode_utf8(data, MAX_LESSON_BYTES))
    given = parse_front_matter(front_matter.head) if front_matter else {}
    try:
        name, description = (require_text(given[key][1]).strip() if key in given else "" for key in ("name", "description"))
    except ValueError as fault:
        raise InvalidValue(2, f"name and description: {fault}") from None
    if not front_matter or not description:
        raise InvalidValue(1, "has no description in its front matter, so nothing says when it fits")
    return name or path.split("/")[-2], description, front_matter.body.replace("\r\n", "\n").strip()


def export_skill(lesson: Lesson, folder: Path) -> Path:
    """A folder with a SKILL.md. One that exists is not replaced."""
    name = make_skill_name(lesson)
    place = folder / name
    refuse_symlinks(folder, place)
    if (place / SKILL_FILE_NAME).exists() or (place / SKILL_FILE_NAME).is_symlink():
        raise BadInput(
            f"{place / SKILL_FILE_NAME} exists already", next="remove it, or give another folder", safe="no file was changed"
        )
    place.mkdir(parents=True, exist_ok=True)
    replace_file(place / SKILL_FILE_NAME, render_skill(lesson, name).encode())
    return place / SKILL_FILE_NAME


def make_skill_name(lesson: Lesson) -> str:
    """Small letters, digits and hyphens: the distinctive words of the title, then the id."""
    words = [word for word in make_slug(lesson.title).split("-") if stem_word(word) not in GENERAL_WORDS or len(word) > 6]
    tail = re.sub(r"[^a-z0-9]+", "-", lesson.id.lower()).strip("-")
    return f"{'-'.join(words)[: MAX_NAME_CHARACTERS - len(tail) - 1].strip('-')}-{tail}".strip("-")[:MAX_NAME_CHARACTERS].strip(
        "-"
    )


def render_skill(lesson: Lesson, name: str) -> str:
    problem = to_one_line(get_heading_text(lesson.body, LESSON_HEADINGS[0]) or lesson.title)
    about = problem if problem.startswith(lesson.title.rstrip("…")) else f"{lesson.title}. {problem}"
    when = f" Use it for tasks that concern {', '.join(lesson.tags)}." if lesson.tags else ""
    description = to_one_line(about, MAX_DESCRIPTION_CHARACTERS - len(when)) + when
    head = [f"name: {name}", f"description: {quote_yaml(description)}"]
    return "\n".join(["---", *head, "---", "", f"# {lesson.title}", "", lesson.body.strip(), ""])
