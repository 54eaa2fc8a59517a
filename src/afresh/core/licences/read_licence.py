"""Rules that read in a goal, an answer or an instruction which tests and settings of tests a task may change.

A sentence gives a licence only if it asks for the change (`orders_about_tests.py`). Tests that are merely mentioned, and orders
to add tests, give none. What a sentence leaves open is read narrowly.
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from afresh.core.licences.hints_about_tests import find_test_hints
from afresh.core.licences.licence_for_tests import EDITS, LicensedChange, WeakeningWay, is_agreement
from afresh.core.licences.orders_about_tests import (
    ADDING,
    CONFIGURING,
    NUMBERS,
    PATH_PATTERN,
    SKIPPING,
    TEST_NAME_PATTERN,
    TESTS_PATTERN,
    WAYS_BY_VERB,
    TestOrder,
    find_test_orders,
    split_sentences,
)
from afresh.core.recognise_test_files import get_file_name, is_conftest, is_in_test_folder, is_test_code
from afresh.core.search_words import drop_stop_words, split_words

_MODULE_TESTS = re.compile(
    r"\btests?\s+(?:of|for|in)\s+(?:this|that|the)\s+(?:module|file|package|class|function)\b", re.IGNORECASE
)
_DESCRIPTION = re.compile(
    r"\b(tests?|test cases?)\s+(?:which|that|whose|who|of|for|about|on|in|counting|using|expecting|checking|asserting)\s+(.+)",
    re.IGNORECASE | re.DOTALL,
)
_END_OF_DESCRIPTION = re.compile(r"\b(?:so that|so they|because|since|in order to)\b|[;,.(]", re.IGNORECASE)
_AWAY_FROM_VERB = re.compile(
    r"\s(?:to|so|that|which|for|where|with|before|after|when|while|if|until)\s|,(?![^,]*\band\b)", re.IGNORECASE
)
_ALSO_IN_TESTS = re.compile(
    r"\b(?:also|including|even|and) (?:those |that )?(?:in )?(?:the |all |our |its )?tests\b", re.IGNORECASE
)
_THESE_FUNCTIONS = re.compile(
    r"\btests?\s+(?:of|for)\s+(?:these|those|both|the)\s+(?:\w+\s+)?(?:functions|methods)\b", re.IGNORECASE
)
_CODE_NAME = re.compile(r"`([A-Za-z_][\w.]*)(?:\(\))?`|\b([A-Za-z_][\w.]*)\(")
_LISTS = re.compile(
    r"\b(?:lists?|tables?|tuples?|sets?|dicts?|mapping|registry|cases|parameters|parametri[sz]\w*)\b", re.IGNORECASE
)
_TOOL = re.compile(r"\b(pytest|coverage|tox|ruff|mypy|flake8|pylint)\b", re.IGNORECASE)
_SETTINGS = re.compile(
    r"\b(filterwarnings|markers|addopts|testpaths|python_files|python_classes|python_functions|pythonpath|asyncio_mode|xfail_strict"
    r"|norecursedirs|fail_under|omit|minversion|usefixtures|doctest_optionflags)\b"
)
_SETTING_BY_WORD = {"warning": "filterwarnings", "marker": "markers", "threshold": "fail_under"}
_CONFIGURATION_FILES = frozenset(
    {"pytest.ini", ".pytest.ini", "pyproject.toml", "setup.cfg", "tox.ini", ".coveragerc", "package.json", "Makefile"}
)
_NO_SETTING = re.compile(
    r"^(?:make (?:sure|certain)\b|add (?:\w+ )?coverage\b|"
    r"(?:make|let|tell|set)\s+(?:the\s+)?pytest\s+(?:to\s+)?(?:run|pass|finish|work|be)\b)",
    re.I,
)
_SHARED_FILES = frozenset({"pyproject.toml", "setup.cfg", "tox.ini", "package.json", "Makefile"})
_ABOUT_SETTINGS = re.compile(
    r"\b(?:tests?|warnings?|markers?|coverage|lint\w*|config\w*|settings?|options?|sections?|scripts?|targets?)\b", re.I
)
_UNTOLD = re.compile(r"\b(?:rely|relies|depends?|assumes?|breaks?|broken|affected)\b", re.IGNORECASE)
"""In a description of tests: what their own words do not say."""
_TEST_DATA = re.compile(r"\b(snapshot|golden|cassette|fixture)", re.IGNORECASE)
_IDLE_WORDS = frozenset(
    ("expect", "expects", "expected", "must", "test", "tests", "case", "cases", "existing", "new", "accordingly", "needed",
     "necessary", "removed", "dropped", "assert", "asserts", "check", "checks", "line", "sync", "use", "used", "wrong")
)  # fmt: skip


def read_licences(text: str, paths: Sequence[str], by: str) -> tuple[LicensedChange, ...]:
    """What a person's words allow; `paths` are the files of the base."""
    found = [
        replace(entry, quote=request.sentence, by=by)
        for before, sentence in pairwise(("", *split_sentences(text)))
        for request in find_test_orders(sentence, before)
        for entry in _read_request(request, text, paths)
    ]
    return tuple(dict.fromkeys(found))


def read_implied_licences(text: str, by: str, quote: str = "") -> list[LicensedChange]:
    """What sentences imply without an order, to be proven: changes of any test, since who implies something seldom names all that
    it is about. With a quote only its sentences, which need less."""
    hints = [hint for hint in find_test_hints(text, loose=bool(quote)) if _is_quoted(hint.sentence, quote)]
    return [LicensedChange(hint.ways, quote=hint.sentence, by=by, needs_proof=True) for hint in hints]


def _is_quoted(sentence: str, quote: str) -> bool:
    said, whole = normalise_words(quote), normalise_words(sentence)
    return said in whole or whole in said


def read_quoted_licences(text: str, quote: str, paths: Sequence[str], by: str) -> tuple[LicensedChange, ...]:
    """What the sentences of a text that hold the quote allow; a verb counts wherever it is, unless it is denied or told of
    somebody."""
    found = [
        replace(entry, quote=request.sentence, by=by)
        for before, sentence in pairwise(("", *split_sentences(text)))
        if _is_quoted(sentence, quote)
        for request in find_test_orders(sentence, before, loose=True)
        for entry in _read_request(request, text, paths)
    ]
    return tuple(dict.fromkeys(found or read_implied_licences(text, by, quote)))


def normalise_words(text: str) -> str:
    """Words without layout and quotation marks, so that an honest copy is known."""
    return " ".join(text.replace("`", "").split()).strip("\"'“”. ").casefold()


def is_configuration_file(path: str) -> bool:
    return get_file_name(path) in _CONFIGURATION_FILES


def read_agreement(question: str, answer: str, paths: Sequence[str], by: str) -> tuple[LicensedChange, ...]:
    """What a plain yes to a question allows: the tests that the question names."""
    if not is_agreement(answer) or not TESTS_PATTERN.search(f"{question} {' '.join(_find_names(question))}"):
        return ()
    ways = tuple(dict.fromkeys(way for word in split_words(question) for way in WAYS_BY_VERB.get(word, ())))
    request = TestOrder(ways or EDITS, question, " ".join(f"{question} {answer}".split()))
    named = [entry for entry in _read_named(request, paths) if entry.path or entry.name]
    return tuple(replace(entry, quote=request.sentence, by=by) for entry in named)


def _read_request(request: TestOrder, text: str, paths: Sequence[str]) -> list[LicensedChange]:
    ways, phrase = request.ways, request.phrase
    if _NO_SETTING.search(phrase):
        return []
    if ways == CONFIGURING or (ways == ADDING and not _LISTS.search(phrase)):
        return _read_settings(request, paths)
    if ways == SKIPPING and phrase.lower().startswith("mark ") and not re.search(r"\b(?:skip\w*|x-?fail\w*)\b", phrase):
        return []
    named = _read_named(request, paths) or _read_data_folders(request, paths)
    if named or ways == ADDING:
        return named + (_read_settings(request, paths) if ways != SKIPPING and _SETTINGS.search(phrase) else [])
    tests = TESTS_PATTERN.search(phrase)
    if not tests or (_AWAY_FROM_VERB.search(phrase[: tests.start()]) and not _ALSO_IN_TESTS.search(phrase)):
        return _read_settings(request, paths) if _TOOL.search(phrase) else []
    return _read_described(request, text, paths)


def _read_described(request: TestOrder, text: str, paths: Sequence[str]) -> list[LicensedChange]:
    """Tests by what they are about: modules, functions that the text names, or other words."""
    if of_modules := _find_tests_of_modules(request.phrase, text, paths):
        return [LicensedChange(request.ways, path) for path in of_modules]
    if _THESE_FUNCTIONS.search(request.phrase) and (names := _find_code_names(text)):
        return [LicensedChange(request.ways, words=(name,)) for name in names]
    if WeakeningWay.ALTER in request.ways and (_UNTOLD.search(request.phrase) or _MODULE_TESTS.search(request.phrase)):
        return [LicensedChange(EDITS)]
    described = _read_description(request)
    return [described] if described.words or WeakeningWay.ALTER in request.ways else []


def _read_data_folders(request: TestOrder, paths: Sequence[str]) -> list[LicensedChange]:
    """`Regenerate the snapshots`: the folders of tests that are named so."""
    kinds = {match[1].lower() for match in _TEST_DATA.finditer(request.phrase)}
    if not kinds or request.ways == SKIPPING or re.search(r"\btests?\b", request.phrase, re.IGNORECASE):
        return []
    folders = [path.rpartition("/")[0] for path in paths if is_in_test_folder(path) and not is_test_code(path)]
    found = dict.fromkeys(folder for folder in folders if any(kind in folder.lower() for kind in kinds))
    return [LicensedChange(request.ways, f"{folder}/") for folder in found]


def _find_code_names(text: str) -> list[str]:
    """Names in backticks or with brackets behind them, in the order of the text, as words."""
    found = (match[1] or match[2] for match in _CODE_NAME.finditer(text))
    return list(dict.fromkeys(split_words(name.rpartition(".")[2])[-1] for name in found))


def _read_named(request: TestOrder, paths: Sequence[str]) -> list[LicensedChange]:
    """Files, folders and tests by their names; a name beside one file is looked for there."""
    found = list[LicensedChange]()
    files = [path for written in PATH_PATTERN.findall(request.phrase) for path in _resolve_path(written, paths)]
    names = [name for name in _find_names(request.phrase) if not any(get_file_name(path) == f"{name}.py" for path, _ in files)]
    bare = [path for path, name in files if not name]
    for name in names:
        module = [path for path in paths if get_file_name(path) == f"{name}.py"]
        found += [LicensedChange(request.ways, path) for path in module]
        found += [] if module else [LicensedChange(request.ways, bare[0] if len(bare) == 1 else "", name)]
    for path, name in files:
        if name or not names:
            found += [LicensedChange(_choose_file_ways(path, request), path, name)]
    return found


def _find_names(phrase: str) -> list[str]:
    """Names of tests and their classes, with a dot between."""
    return [match[0].replace("::", ".") for match in TEST_NAME_PATTERN.finditer(PATH_PATTERN.sub(" ", phrase))]


def _choose_file_ways(path: str, request: TestOrder) -> tuple[WeakeningWay, ...]:
    if get_file_name(path) in _CONFIGURATION_FILES:
        return (WeakeningWay.CONFIGURE,)
    if is_conftest(path) and re.search(r"\b(?:autouse|hooks?|plugins?|fixtures?|pytest_\w+)\b", request.phrase):
        return (*request.ways, WeakeningWay.HOOK)
    return request.ways


def _resolve_path(written: str, paths: Sequence[str]) -> list[tuple[str, str]]:
    """The test files or configuration that a path in prose means, each with the name after `::`."""
    path, _, name = written.partition("::")
    name = name.replace("::", ".")
    path = path.removeprefix("./").rstrip(".")
    if path.endswith("/"):
        return [(path, name)] if is_in_test_folder(f"{path}x.py") else []
    if any(one.startswith(f"{path}/") for one in paths) and is_in_test_folder(f"{path}/x.py"):
        return [(f"{path}/", name)]
    known = [path] if path in paths else [one for one in paths if one.endswith(f"/{path}")]
    concerned = [
        one for one in known if is_test_code(one) or is_in_test_folder(one) or get_file_name(one) in _CONFIGURATION_FILES
    ]
    return [(one, name) for one in concerned] if len(concerned) == 1 else []


def _read_settings(request: TestOrder, paths: Sequence[str]) -> list[LicensedChange]:
    """Settings of the tool that is named; which ones, by their names or by what the sentence speaks of."""
    files = [path for written in PATH_PATTERN.findall(request.phrase) for path, _ in _resolve_path(written, paths)]
    configured = [path for path in files if is_configuration_file(path)]
    keys = _SETTINGS.findall(request.phrase)
    tool = _TOOL.search(PATH_PATTERN.sub(" ", request.phrase))
    if not (configured or keys or tool):
        return []
    if not (keys or tool or _ABOUT_SETTINGS.search(PATH_PATTERN.sub(" ", request.phrase))):
        configured = [path for path in configured if get_file_name(path) not in _SHARED_FILES]
        if not configured:
            return []
    stems = [key for word, key in _SETTING_BY_WORD.items() if re.search(rf"\b{word}s?\b", request.phrase, re.IGNORECASE)]
    names = keys or stems or ([tool[1].lower()] if tool else [""])
    places = configured or [""]
    return [LicensedChange((WeakeningWay.CONFIGURE,), path, name) for path in places for name in dict.fromkeys(names)]


def _find_tests_of_modules(phrase: str, text: str, paths: Sequence[str]) -> list[str]:
    """Test files of the modules that the phrase names, or that the text does if it says `the tests of this module`."""
    where = text if _MODULE_TESTS.search(phrase) else phrase
    stems = {get_file_name(path).removesuffix(".py") for path in PATH_PATTERN.findall(where) if path.endswith(".py")}
    wanted = {name for stem in stems for name in (f"test_{stem}.py", f"{stem}_test.py", f"test_{stem.strip('_')}.py")}
    return [path for path in paths if get_file_name(path) in wanted]


def _read_description(request: TestOrder) -> LicensedChange:
    """`The four tests which count warnings`: by the words that say which, and by how many they are."""
    told = _DESCRIPTION.search(request.phrase)
    object_ = told or TESTS_PATTERN.search(request.phrase)
    assert object_, "a phrase about tests"
    counted = re.search(rf"\b(\d+|{'|'.join(NUMBERS)})\b[^,;]{{0,30}}$", request.phrase[: object_.start()], re.IGNORECASE)
    single = object_[0].lower().partition(" ")[0] == "test"
    most = int(NUMBERS.get(counted[1].lower(), 0) or counted[1]) if counted else int(single)
    words = drop_stop_words(split_words(_END_OF_DESCRIPTION.split(told[2])[0])) if told else []
    telling = dict.fromkeys(word for word in words if word not in _IDLE_WORDS)
    return LicensedChange(request.ways, words=tuple(telling), most=most)


def list_topic_words(sentence: str) -> list[str]:
    """What it is about: words and numbers, without those that are in any order about tests."""
    return [word for word in drop_stop_words(split_words(sentence)) if word not in _IDLE_WORDS and word not in WAYS_BY_VERB]


def list_telling_words(sentence: str) -> list[str]:
    """Those that say which tests are meant: not that they are tests, nor what is to be done."""
    words = drop_stop_words(split_words(sentence))
    return [word for word in words if word not in _IDLE_WORDS and word not in WAYS_BY_VERB and word not in NUMBERS]
