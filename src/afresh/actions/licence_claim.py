"""The model's own reading of what it may change in tests: a quote of the person's words, and the tests that they speak of."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from afresh.context.file_chunks import extract_function_source
from afresh.core.licence_for_tests import (
    FROM_MODEL,
    LicenceWidened,
    LicensedChange,
    Weakening,
    WeakeningWay,
)
from afresh.core.match_licence import count_shared_words
from afresh.core.read_licence import is_configuration_file, list_telling_words, normalise_words, read_quoted_licences
from afresh.core.recognise_test_files import is_in_test_folder, is_test_code
from afresh.core.state import State
from afresh.errors import ModelMistake
from afresh.ports.tool import ToolContext
from afresh.ports.workspace import FileTree

MIN_QUOTE_WORDS = 3
LICENCE_SUBJECT = "licence"


def claim_licence(named: str, quote: str, context: ToolContext) -> LicenceWidened:
    """The licence, if the quote is a person's words, asks for changes of tests and speaks of those that are named."""
    said = normalise_words(quote)
    if len(said.split()) < MIN_QUOTE_WORDS:
        raise ModelMistake("licence: `why` is the words of the task that ask for the change, copied exactly")
    sources = [text for text in _list_person_words(context.state) if said in normalise_words(text)]
    if not sources:
        raise ModelMistake("licence: these words are in neither the goal nor an answer; copy them exactly, or `ask`")
    paths = context.files.paths()
    asked = [entry for text in sources for entry in read_quoted_licences(text, quote, paths, FROM_MODEL)]
    if not asked:
        raise ModelMistake(
            "licence: these words do not ask to change existing tests or their settings; `ask` if they have to change"
        )
    targets = [target.strip("`'\" ") for target in named.replace(",", " ").split()]
    changes = tuple(change for target in targets for change in _license_target(target, asked, context.files))
    for entry in asked:
        claimed = {(change.path, change.name) for change in changes if change.words == entry.words}
        if entry.most and len(claimed) > entry.most:
            raise ModelMistake(f"licence: the words speak of {entry.most}, you name {len(claimed)}")
    if not changes:
        raise ModelMistake("licence: `text` names the tests or files, as path or path::test")
    return LicenceWidened(changes)


def _list_person_words(state: State) -> Iterator[str]:
    if not state.task.parent:
        yield state.task.goal
    yield from state.dialogue.words


def _license_target(target: str, asked: Sequence[LicensedChange], files: FileTree) -> list[LicensedChange]:
    path, _, name = target.partition("::")
    name = name.replace("::", ".")
    known = path if path in files.paths() else ""
    if not known or not (is_test_code(known) or is_in_test_folder(known) or is_configuration_file(known)):
        raise ModelMistake(f"licence: {target} is no test or configuration file of this repository; write path or path::test")
    fitting = [
        replace(entry, path=known, name=_narrow_name(entry, name)) for entry in asked if _speaks_of(entry, known, name, files)
    ]
    if not fitting:
        raise ModelMistake(f"licence: these words do not speak of {target}; `ask` if it has to change")
    return fitting


def _narrow_name(entry: LicensedChange, name: str) -> str:
    return entry.name if WeakeningWay.CONFIGURE in entry.ways else name or entry.name


def _speaks_of(entry: LicensedChange, path: str, name: str, files: FileTree) -> bool:
    if entry.path and path != entry.path and not (entry.path.endswith("/") and path.startswith(entry.path)):
        return False
    if (WeakeningWay.CONFIGURE in entry.ways) != is_configuration_file(path):
        return False
    if entry.name and WeakeningWay.CONFIGURE not in entry.ways:
        return f".{entry.name}." in f".{name}."
    if not entry.words:
        return True
    meant = Weakening(path, WeakeningWay.ALTER, "", name, _find_source(files.read(path), name))
    return bool(name) and count_shared_words(meant, [*entry.words, *list_telling_words(entry.quote)]) >= 1


def _find_source(text: str, name: str) -> str:
    """Of the test, also where its class is left out."""
    last = name.rpartition(".")[2]
    classes = re.findall(r"^class (\w+)", text, re.MULTILINE)
    tried = (extract_function_source(text, parts) for parts in (name.split("."), [last], *([one, last] for one in classes)))
    return next((source for source in tried if source), "")
