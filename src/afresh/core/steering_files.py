"""Files that steer afresh itself: settings, instructions, templates, knowledge. A task changes them only if a person says so."""

from collections.abc import Iterable, Sequence

from afresh.core.state import State

_OWN_FOLDER = ".afresh/"
_INSTRUCTION_NAMES = frozenset({"AGENT.md", "AGENTS.md", "CLAUDE.md", ".cursorrules"})
_STEERING_FOLDERS = (_OWN_FOLDER, ".cursor/rules/", ".claude/skills/", ".agents/skills/")


def list_persons_words(state: State) -> tuple[str, ...]:
    """What a person has asked for."""
    return tuple(text for text in (state.persons_goal, *state.dialogue.words) if text)


def is_steering_file(path: str) -> bool:
    """Whether a later task would be told or judged by it."""
    plain = path.removeprefix("./")
    return plain.startswith(_STEERING_FOLDERS) or plain.rpartition("/")[2] in _INSTRUCTION_NAMES


def is_file_asked_for(path: str, words: Iterable[str]) -> bool:
    """Whether a person names the file, or a folder of such files that it is in."""
    plain = path.removeprefix("./")
    name, parts = plain.rpartition("/")[2], plain.split("/")
    named = [plain, *("/".join(parts[:depth]) for depth in range(2, len(parts)) if plain.startswith(_STEERING_FOLDERS))]
    known_by_name = not plain.startswith(_OWN_FOLDER) or name in _INSTRUCTION_NAMES
    return any(any(place in said for place in named) or (name in said and (known_by_name or ".afresh" in said)) for said in words)


def list_unasked_steering_files(paths: Iterable[str], words: Sequence[str]) -> tuple[str, ...]:
    return tuple(path for path in paths if is_steering_file(path) and not is_file_asked_for(path, words))
