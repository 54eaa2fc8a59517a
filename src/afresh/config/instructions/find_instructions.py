"""Where instructions are kept, from general to special. They are read from the user's checkout, never from a task's own tree: no
task can change the rules that it works by."""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from pathlib import Path

from afresh.config.instructions.merge_instructions import merge_instructions
from afresh.config.instructions.parse_instructions import (
    CURSOR_RULES_FOLDER,
    ParsedInstructions,
    parse_cursor_rule,
    parse_foreign_instructions,
    parse_own_instructions,
)
from afresh.config.templates.load_template import list_task_types
from afresh.config.templates.template_files import TemplateLayers
from afresh.config.yaml_reader import FRONT_MATTER_OPENING, NAME_PATTERN, FileFault, InvalidValue, decode_utf8, error_from_faults
from afresh.core.instructions import (
    NO_DEFAULTS,
    InstructionChain,
    InstructionFile,
    InstructionLevel,
    TaskDefaults,
    merge_defaults,
)
from afresh.errors import BadInstructions, ModelMistake
from afresh.workspace.confined_path import open_path_inside, split_relative_path
from afresh.workspace.files import read_content

OWN_FILE_NAME = "AGENT.md"
FOREIGN_FILE_NAMES = ("AGENTS.md", "CLAUDE.md")
PROJECT_FILE_NAMES = (f".afresh/{OWN_FILE_NAME}", OWN_FILE_NAME, *FOREIGN_FILE_NAMES, ".cursorrules")
FOLDER_FILE_NAMES = (OWN_FILE_NAME, *FOREIGN_FILE_NAMES)
"""The first of these that exists is used."""
MAX_INSTRUCTION_BYTES = 100_000


@dataclass(frozen=True, slots=True)
class FoundInstructions:
    """The instructions that apply to a task, what is wrong with them, and notes for the user."""

    sources: tuple[InstructionFile, ...] = ()
    faults: tuple[FileFault, ...] = ()
    notes: tuple[str, ...] = ()
    defaults: TaskDefaults = NO_DEFAULTS


@dataclass(frozen=True, slots=True)
class InstructionPlace:
    level: InstructionLevel
    file: str
    """The path as shown to people."""
    path: Path
    inside: str = ""
    """Path from the root, for files of the repository."""
    folder: str = ""

    @property
    def own(self) -> bool:
        """Whether the name is used by afresh only."""
        return self.path.name == OWN_FILE_NAME or self.level in (InstructionLevel.USER, InstructionLevel.TYPE)

    def ours(self, text: str) -> bool:
        """Written for afresh beyond doubt: other tools have read a plain AGENT.md in a source tree too."""
        return self.own and (not self.inside or self.inside.startswith(".afresh/") or bool(FRONT_MATTER_OPENING.match(text)))


@dataclass(frozen=True, slots=True)
class InstructionFiles:
    """The Instructions port over the user's config folder and a checkout."""

    user: Path
    root: Path | None = None
    known: tuple[str, ...] = ()
    """Types of task that there are."""

    def chain(self, types: Sequence[str], named: Sequence[str], touched: Sequence[str]) -> InstructionChain:
        paths = tuple(dict.fromkeys((*(word for word in named if self._real(word)), *touched)))
        instructions = self.look(types, paths)
        if instructions.faults:
            raise error_from_faults(instructions.faults, "afresh context instructions", BadInstructions)
        return merge_instructions(instructions.sources, paths)

    def _real(self, word: str) -> bool:
        """A path of this repository, or of a file that is still to be made in one of its folders."""
        first = word.split("/")[0]
        return bool(self.root) and first not in (".", "..") and os.path.lexists(self.root / first)

    @property
    def users(self) -> str:
        """The folder of a user's instructions for every repository."""
        return shorten_home_path(self.user / OWN_FILE_NAME)

    def look(self, types: Sequence[str], paths: Sequence[str]) -> FoundInstructions:
        """The instructions for these types and paths; never raises: what can't be used is a fault."""
        instructions = [self._read(place, types, paths) for place in self._places(types, paths)]
        return FoundInstructions(
            tuple(source for found_instructions in instructions for source in found_instructions.sources),
            tuple(fault for found_instructions in instructions for fault in found_instructions.faults),
            (*self._unread(), *(note for found_instructions in instructions for note in found_instructions.notes)),
            reduce(merge_defaults, [found_instructions.defaults for found_instructions in instructions], NO_DEFAULTS),
        )

    def defaults(self, types: Sequence[str]) -> TaskDefaults:
        """Defaults for new tasks from the files of the user, the project and these types."""
        instructions = self.look(types, ())
        if instructions.faults:
            raise error_from_faults(instructions.faults, "afresh context instructions", BadInstructions)
        return instructions.defaults

    def _places(self, types: Sequence[str], paths: Sequence[str]) -> Iterator[InstructionPlace]:
        yield from self._of_user(InstructionLevel.USER, OWN_FILE_NAME)
        if self.root:
            first = next(self._of_project(InstructionLevel.PROJECT, PROJECT_FILE_NAMES), None)
            yield from [first] if first else self._cursor_rules()
            for folder in list_folders(paths):
                place = next(self._of_project(InstructionLevel.FOLDER, [f"{folder}/{name}" for name in FOLDER_FILE_NAMES]), None)
                if place and not self._of_another(folder):
                    yield replace(place, folder=folder)
        wanted = [f"tasks/{type}.md" for type in dict.fromkeys(types) if NAME_PATTERN.fullmatch(type)]
        for name in wanted:
            yield from self._of_user(InstructionLevel.TYPE, name)
        yield from self._of_project(InstructionLevel.TYPE, [f".afresh/{name}" for name in wanted])

    def _of_another(self, folder: str) -> bool:
        """Whether a folder is in another repository, and so another project; a submodule has a file `.git`."""
        names = folder.split("/")
        return (
            any((self.root / "/".join(names[:end]) / ".git").is_dir() for end in range(1, len(names) + 1)) if self.root else False
        )

    def _of_user(self, level: InstructionLevel, name: str) -> Iterator[InstructionPlace]:
        path = self.user / name
        if os.path.lexists(path):
            yield InstructionPlace(level, shorten_home_path(path), path)

    def _of_project(self, level: InstructionLevel, names: Sequence[str]) -> Iterator[InstructionPlace]:
        for name in names:
            if self.root and os.path.lexists(f"{self.root}/{name}"):
                yield InstructionPlace(level, name, self.root / name, name)

    def _cursor_rules(self) -> Iterator[InstructionPlace]:
        paths = sorted((self.root / CURSOR_RULES_FOLDER).glob("*.md*")) if self.root else []
        return self._of_project(InstructionLevel.PROJECT, [f"{CURSOR_RULES_FOLDER}/{path.name}" for path in paths])

    def _read(self, place: InstructionPlace, types: Sequence[str], paths: Sequence[str]) -> FoundInstructions:
        try:
            text = decode_instructions(read_instruction_bytes(self.root, place))
        except InvalidValue as wrong:
            if place.own:
                return FoundInstructions(faults=(wrong.in_file(place.file),))
            return FoundInstructions(notes=(f"{place.file} is not shown: it {wrong.what}",))
        instructions, notes = self._parsed(place, text)
        if instructions.types and not set(instructions.types) & set(types):
            notes = (f"{place.file} counts only for tasks of type {', '.join(instructions.types)}",)
            return FoundInstructions(faults=instructions.faults, notes=notes)
        if instructions.applies_to and not matches_any_path(instructions.applies_to, paths):
            notes = (f"{place.file} counts only for work on {', '.join(instructions.applies_to)}",)
            return FoundInstructions(faults=instructions.faults, notes=notes)
        source = InstructionFile(
            place.file, place.level, instructions.parts, place.folder, place.ours(text), instructions.firm, instructions.replaces
        )
        return FoundInstructions(
            (source,) if instructions.parts or instructions.replaces or instructions.faults else (),
            instructions.faults,
            notes,
            instructions.defaults,
        )

    def _parsed(self, place: InstructionPlace, text: str) -> tuple[ParsedInstructions, tuple[str, ...]]:
        if place.own:
            user = not place.inside
            return parse_own_instructions(place.file, text, () if user else self.known, user, bool(place.folder)), ()
        return (parse_cursor_rule if place.inside.startswith(CURSOR_RULES_FOLDER) else parse_foreign_instructions)(
            place.file, text
        )

    def _unread(self) -> Iterator[str]:
        """Notes on files that a user may expect to be read and that are not."""
        if self.root:
            first, *others = [place.file for place in self._of_project(InstructionLevel.PROJECT, PROJECT_FILE_NAMES)] or [""]
            yield from [f"{file} is not read: {first} goes before it" for file in others]
            tasks = sorted(path.stem for path in (self.root / ".afresh" / "tasks").glob("*.md"))
            yield from [
                f".afresh/tasks/{name}.md is never read: there is no task type {name}" for name in tasks if self.lost(name)
            ]

    def lost(self, type: str) -> bool:
        return bool(self.known) and type not in self.known


def matches_any_path(patterns: Sequence[str], paths: Sequence[str]) -> bool:
    """Whether a path matches, by git's rules for ignored files. An invalid pattern matches nothing."""
    from pathspec import GitIgnoreSpec

    try:
        return any(True for _ in GitIgnoreSpec.from_lines(patterns).match_files(paths))
    except ValueError:
        return False


def list_folders(paths: Sequence[str]) -> list[str]:
    """Every folder that a path is in, and the path itself, which may be one: shallow ones first."""
    found: set[str] = set()
    for path in paths:
        try:
            names = split_relative_path(path)
        except ModelMistake:
            continue
        found |= {"/".join(names[:end]) for end in range(1, len(names) + 1) if names[0] not in (".afresh", ".git")}
    return sorted(found, key=lambda folder: (folder.count("/"), folder))


def read_instruction_bytes(root: Path | None, place: InstructionPlace) -> bytes:
    """Files of the repository by no link that leads out of it; the user's own wherever they are linked to."""
    try:
        if root and place.inside:
            with open_path_inside(root, place.inside) as path_inside:
                return read_content(place.inside, path_inside)
        if not place.path.is_file():
            raise InvalidValue(1, "is not a regular file", "put the instructions themselves there")
        with place.path.open("rb") as opened:
            return opened.read(MAX_INSTRUCTION_BYTES + 1)
    except ModelMistake as fault:
        what = str(fault).replace(repr(place.inside), "").removeprefix(place.inside).strip()
        raise InvalidValue(1, what, "put the file itself there") from None
    except OSError as fault:
        raise InvalidValue(1, f"can't be read: {fault.strerror or 'it leads nowhere'}", "mend or remove it") from None


def decode_instructions(data: bytes) -> str:
    text = decode_utf8(data, MAX_INSTRUCTION_BYTES).removeprefix("\ufeff")
    if "\0" in text:
        raise InvalidValue(text[: text.index("\0")].count("\n") + 1, "holds a NUL character", "save it as UTF-8")
    return text.replace("\r\n", "\n")


def shorten_home_path(path: Path) -> str:
    home = Path.home()
    return f"~/{path.relative_to(home).as_posix()}" if path.is_relative_to(home) else str(path)


def instructions_for_project(root: Path | None, layers: TemplateLayers) -> InstructionFiles:
    from platformdirs import user_config_path

    return InstructionFiles(user_config_path("afresh"), root, tuple(list_task_types(layers)))
