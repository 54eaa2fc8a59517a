"""The model's own reading of what it may change in tests: a quote of the person's words, and the tests that they speak of."""

import re
from collections.abc import Sequence
from dataclasses import replace

from afresh.context.file_chunks import extract_function_source
from afresh.core.licences.hints_about_tests import find_protection
from afresh.core.licences.licence_for_tests import (
    EDITS,
    FROM_MODEL,
    LicenceWidened,
    LicensedChange,
    Weakening,
    WeakeningWay,
)
from afresh.core.licences.match_licence import MIN_SHARED_WORDS, count_shared_words
from afresh.core.licences.read_licence import (
    is_configuration_file,
    list_telling_words,
    list_topic_words,
    normalise_words,
    read_quoted_licences,
)
from afresh.core.recognise_test_files import is_in_test_folder, is_test_code
from afresh.core.steering_files import list_persons_words
from afresh.errors import ModelMistake
from afresh.ports.tool import ToolContext
from afresh.ports.workspace import FileTree, read_text

MIN_QUOTE_WORDS = 3
LICENCE_SUBJECT = "licence"


def claim_licence(named: str, quote: str, context: ToolContext) -> LicenceWidened:
    """The licence, if the quote is a person's words and speaks of the tests that are named. Words that do not ask for a change of
    tests give one that needs proof."""
    said = normalise_words(quote)
    if len(said.split()) < MIN_QUOTE_WORDS:
        raise ModelMistake("licence: `why` is the words of the task that ask for the change, copied exactly")
    sources = [text for text in list_persons_words(context.state) if said in normalise_words(text)]
    if not sources:
        raise ModelMistake("licence: these words are in neither the goal nor an answer; copy them exactly, or `ask`")
    paths = context.files.paths()
    asked = [entry for text in sources for entry in read_quoted_licences(text, quote, paths, FROM_MODEL)]
    if forbidden := next((found for text in sources if not asked and (found := find_protection(text))), ""):
        raise ModelMistake(f"licence: the task says “{forbidden}”; `ask` if tests have to change all the same")
    asked = asked or [_read_topic(quote)]
    targets = [target.strip("`'\" ") for target in re.sub(r"\([^)]*\)|\s*[›>]\s*\S+", " ", named).replace(",", " ").split()]
    changes = tuple(change for target in targets for change in _license_target(target, asked, context.files))
    for entry in asked:
        claimed = {(change.path, change.name) for change in changes if change.words == entry.words}
        if entry.most and len(claimed) > entry.most:
            raise ModelMistake(f"licence: the words speak of {entry.most}, you name {len(claimed)}")
    if not changes:
        raise ModelMistake("licence: `text` names the tests or files, as path or path::test")
    return LicenceWidened(changes)


def _read_topic(quote: str) -> LicensedChange:
    """Words of the order that say nothing of tests may still contradict one: a test about the same, and with proof."""
    words = tuple(dict.fromkeys(list_topic_words(quote)))
    if not words:
        raise ModelMistake(
            "licence: these words do not ask to change existing tests or their settings; `ask` if they have to change"
        )
    return LicensedChange((*EDITS, WeakeningWay.REMOVE), words=words, quote=quote, by=FROM_MODEL, needs_proof=True)


def _license_target(target: str, asked: Sequence[LicensedChange], files: FileTree) -> list[LicensedChange]:
    path, _, name = target.partition("::")
    name = name.replace("::", ".")
    known = path if path in files.paths() else ""
    if not known or not _may_hold_tests(known):
        raise ModelMistake(f"licence: {target} is no test or configuration file of this repository; write path or path::test")
    fitting = [
        replace(entry, path=known, name=_narrow_name(entry, name, known), words=() if entry.needs_proof else entry.words)
        for entry in asked
        if _speaks_of(entry, known, name, files)
    ]
    if not fitting:
        raise ModelMistake(f"licence: these words do not speak of {target}; `ask` if it has to change")
    return fitting


def _may_hold_tests(path: str) -> bool:
    """Rust has tests inside its sources."""
    return is_test_code(path) or is_in_test_folder(path) or is_configuration_file(path) or path.endswith(".rs")


def _narrow_name(entry: LicensedChange, name: str, path: str) -> str:
    """Outside of Python changes are known by file."""
    if not path.endswith(".py") and not is_configuration_file(path):
        return ""
    return entry.name if WeakeningWay.CONFIGURE in entry.ways else name or entry.name


def _speaks_of(entry: LicensedChange, path: str, name: str, files: FileTree) -> bool:
    if entry.path and path != entry.path and not (entry.path.endswith("/") and path.startswith(entry.path)):
        return False
    if (WeakeningWay.CONFIGURE in entry.ways) != is_configuration_file(path):
        return False
    if entry.name and WeakeningWay.CONFIGURE not in entry.ways:
        return f".{entry.name}." in f".{name}."
    if not entry.words:
        return not entry.needs_proof or bool(name) or bool(entry.path)
    meant = Weakening(path, WeakeningWay.ALTER, "", name, _find_source(read_text(files, path) or "", name))
    if entry.needs_proof:
        named = count_shared_words(replace(meant, source=""), entry.words)
        return bool(name) and (named >= 1 or count_shared_words(meant, entry.words) >= MIN_SHARED_WORDS)
    return bool(name) and count_shared_words(meant, [*entry.words, *list_telling_words(entry.quote)]) >= 1


def _find_source(text: str, name: str) -> str:
    """Of the test, also where its class is left out."""
    last = name.rpartition(".")[2]
    classes = re.findall(r"^class (\w+)", text, re.MULTILINE)
    tried = (extract_function_source(text, parts) for parts in (name.split("."), [last], *([one, last] for one in classes)))
    return next((source for source in tried if source), "")
