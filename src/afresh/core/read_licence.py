"""Rules that read in a goal, an answer or an instruction which tests and settings of tests a task may change.

A sentence gives a licence only if it asks for the change: a verb in the form of an order, with tests as its object. Tests that
are merely mentioned, and orders to add tests, give none. What a sentence leaves open is read narrowly.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

from afresh.core.fast_dataclass import dataclass
from afresh.core.licence_for_tests import EDITS, LicensedChange, WeakeningWay, is_agreement
from afresh.core.recognise_test_files import get_file_name, is_conftest, is_in_test_folder, is_test_code
from afresh.core.search_words import drop_stop_words, split_words

_ADDING = (WeakeningWay.EXTEND,)
_CONFIGURING = (WeakeningWay.CONFIGURE,)
_SKIPPING = (WeakeningWay.SKIP,)
_REMOVING = (*EDITS, WeakeningWay.REMOVE)
_WAYS_BY_VERB: dict[str, tuple[WeakeningWay, ...]] = {
    **dict.fromkeys(("adapt", "update", "change", "adjust", "modify", "amend", "revise", "edit", "port", "migrate"), EDITS),
    **dict.fromkeys(("convert", "relax", "loosen", "refactor", "parametrize", "parametrise", "align", "correct"), EDITS),
    **dict.fromkeys(("exclude", "except", "expect"), EDITS),
    **dict.fromkeys(("rewrite", "rename", "replace", "move", "merge", "split"), _REMOVING),
    **dict.fromkeys(("remove", "delete", "drop"), (WeakeningWay.REMOVE,)),
    **dict.fromkeys(("skip", "xfail", "disable", "deselect", "ignore", "mark"), _SKIPPING),
    **dict.fromkeys(("configure", "set", "let", "make", "tell"), _CONFIGURING),
    **dict.fromkeys(("add", "append", "register", "include", "put", "insert", "extend"), _ADDING),
}
_PARTICIPLES = {
    "adapted": "adapt", "updated": "update", "changed": "change", "adjusted": "adjust", "modified": "modify", "revised": "revise",
    "rewritten": "rewrite", "renamed": "rename", "replaced": "replace", "removed": "remove", "deleted": "delete",
    "dropped": "drop", "skipped": "skip", "xfailed": "xfail", "disabled": "disable", "ignored": "ignore", "extended": "extend",
}  # fmt: skip
_NUMBERS: dict[str, int] = dict(
    zip(("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"), range(1, 11), strict=True)
)
_ORDER = re.compile(rf"\b({'|'.join(_WAYS_BY_VERB)})\b(?=\s)", re.IGNORECASE)
_PASSIVE_ORDER = re.compile(
    r"\b(?:must|should|shall|may|can|needs? to|ha(?:s|ve) to|(?:is|are) to)\s+(?:(?:also|then)\s+)?be\s+"
    rf"({'|'.join(_PARTICIPLES)})\b",
    re.IGNORECASE,
)
_BEFORE_ORDER = re.compile(
    r"(?:^|[:;,(.–—•*-]\s*|\b(?:and|or|please|also|then|must|should|shall|may|can|needs? to|ha(?:s|ve) to|go ahead|you to)\s+"
    r"(?:(?:also|then|please|and)\s+)?)$",
    re.IGNORECASE,
)
_NARRATIVE = re.compile(r"\b(?:I|we|he|she|they|it|users?|which|who)\b")
_CONDITION = re.compile(r"^\W*(?:when|whenever|if|after|while|once|as soon as)\b", re.IGNORECASE)
_NEGATION = re.compile(
    r"(?:\b(?:not|never|without|cannot|avoid|nor|no need to|instead of|rather than)|n't)\b[^,;:.]{0,40}$", re.IGNORECASE
)
_DETERMINER = re.compile(
    r"\s+(?:the|this|these|those|that|all|any|both|each|every|existing|our|its|their|your|old|affected|obsolete|corresponding"
    rf"|relevant|\d+|{'|'.join(_NUMBERS)}|tests?|pytest|conftest|fixtures?|docs?|[`'\"]|[\w./:-]*test[\w./:-]*|[\w.-]+/)",
    re.IGNORECASE,
)
_PATH = re.compile(r"(?<![\w./-])(?:[\w.-]+/)*[\w-][\w.-]*\.[A-Za-z]{1,5}\b(?:::[\w:]+)?|(?<![\w./-])(?:[\w.-]+/)+(?![\w*])")
_TEST_NAME = re.compile(r"(?<![\w./:])(?:Test[A-Z]\w*(?:(?:::|\.)test_\w+)?|test_\w+)\b(?!\.py)")
_TESTS = re.compile(r"\b(?:tests?|test[ -](?:suite|cases?)|suite|conftest|fixtures?)\b", re.IGNORECASE)
_MODULE_TESTS = re.compile(
    r"\btests?\s+(?:of|for|in)\s+(?:this|that|the)\s+(?:module|file|package|class|function)\b", re.IGNORECASE
)
_DESCRIPTION = re.compile(
    r"\b(tests?|test cases?)\s+(?:which|that|whose|who|of|for|about|on|in|counting|using|expecting|checking|asserting)\s+(.+)",
    re.IGNORECASE | re.DOTALL,
)
_END_OF_DESCRIPTION = re.compile(r"\b(?:so that|so they|because|since|in order to)\b|[;,.(]", re.IGNORECASE)
_END_OF_OBJECT = re.compile(
    r"\b(?:so that|such that|until|without|because|unless|in order to|as (?:tests?|the|it|in|we|they)|like|see|since|used by"
    r"|(?:and|then|but)\s+(?:run|add|write|check|verify|see|make|ensure|document|create|keep|use|fix|implement|leave|do|the\s+\w+\s+is)"
    r")\b|(?<!tests )(?<!test )(?<!suite )\(|;|, (?:then|but|which|where|while)\b",
    re.IGNORECASE,
)
_AWAY_FROM_VERB = re.compile(r"\s(?:to|so|that|which|for|where|with)\s|,(?![^,]*\band\b)", re.IGNORECASE)
_ALSO_IN_TESTS = re.compile(
    r"\b(?:also|including|even|and) (?:those |that )?(?:in )?(?:the |all |our |its )?tests\b", re.IGNORECASE
)
_ANAPHOR = re.compile(r"\s+(?:(?:them|those|these|it)\b|[^\s,;:.()]+\s+there\b)", re.IGNORECASE)
"""Words after a verb that stand for tests which were spoken of before: `update them`, `exclude X there`."""
_EXPECTATION = re.compile(
    r"\b(?:tests?|test cases?)\s+(?:which|that|whose|of|for|with)\s+([^,;:.]+?)\s+(?:must|should|shall|ha(?:s|ve) to|needs? to)"
    r"\s+(?:(?:now|then)\s+)?(?:expect|assert|check)\b",
    re.IGNORECASE,
)
"""`The tests which expect A must now expect B`."""
_GOING_AWAY = re.compile(
    r"\b(?:tests?|test cases?)\s+(?:which|that|whose|of|for|with)\s+([^,;:.]+?)\s+(?:goes|go|can go|may go|must go)\s+away\b",
    re.IGNORECASE,
)
_THESE_FUNCTIONS = re.compile(
    r"\btests?\s+(?:of|for)\s+(?:these|those|both|the)\s+(?:\w+\s+)?(?:functions|methods)\b", re.IGNORECASE
)
_CODE_NAME = re.compile(r"`([A-Za-z_][\w.]*)(?:\(\))?`|\b([A-Za-z_][\w.]*)\(")
_ANAPHOR_WORD = re.compile(r"\b(?:them|those|these|it|there)\b", re.IGNORECASE)
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
_IDLE_WORDS = frozenset(
    {
        "expect",
        "expects",
        "expected",
        "must",
        "test",
        "tests",
        "case",
        "cases",
        "existing",
        "new",
        "accordingly",
        "needed",
        "necessary",
    }
)


@dataclass(frozen=True, slots=True)
class _Request:
    """An order in a sentence: its verb, and the words that say of what."""

    ways: tuple[WeakeningWay, ...]
    phrase: str
    sentence: str


def read_licences(text: str, paths: Sequence[str], by: str) -> tuple[LicensedChange, ...]:
    """What a person's words allow; `paths` are the files of the base."""
    found = [
        replace(entry, quote=request.sentence, by=by)
        for before, sentence in pairwise(("", *split_sentences(text)))
        for request in (*_find_requests(sentence), *_find_requests_by_pronoun(sentence, before))
        for entry in _read_request(request, text, paths)
    ]
    return tuple(dict.fromkeys(found))


def read_quoted_licences(text: str, quote: str, paths: Sequence[str], by: str) -> tuple[LicensedChange, ...]:
    """What the sentences of a text that hold the quote allow; a verb counts wherever it is, unless it is denied or told of
    somebody."""
    said = normalise_words(quote)
    found = [
        replace(entry, quote=request.sentence, by=by)
        for before, sentence in pairwise(("", *split_sentences(text)))
        if said in normalise_words(sentence) or normalise_words(sentence) in said
        for request in (*_find_requests(sentence, loose=True), *_find_requests_by_pronoun(sentence, before))
        for entry in _read_request(request, text, paths)
    ]
    return tuple(dict.fromkeys(found))


def normalise_words(text: str) -> str:
    """Words without layout and quotation marks, so that an honest copy is known."""
    return " ".join(text.replace("`", "").split()).strip("\"'“”. ").casefold()


def is_configuration_file(path: str) -> bool:
    return get_file_name(path) in _CONFIGURATION_FILES


def read_agreement(question: str, answer: str, paths: Sequence[str], by: str) -> tuple[LicensedChange, ...]:
    """What a plain yes to a question allows: the tests that the question names."""
    if not is_agreement(answer) or not _TESTS.search(f"{question} {' '.join(_find_names(question))}"):
        return ()
    ways = tuple(dict.fromkeys(way for word in split_words(question) for way in _WAYS_BY_VERB.get(word, ())))
    request = _Request(ways or EDITS, question, " ".join(f"{question} {answer}".split()))
    named = [entry for entry in _read_named(request, paths) if entry.path or entry.name]
    return tuple(replace(entry, quote=request.sentence, by=by) for entry in named)


def split_sentences(text: str) -> list[str]:
    """Each in one line; the items of a list are sentences of their own."""
    plain = re.sub(r"```.*?(?:```|\Z)", " ", text, flags=re.DOTALL)
    parts = re.split(r"\n\s*\n|\n\s*(?=(?:[-*•]|\d+[.)])\s)", plain)
    joined = (re.sub(r"^\s*(?:[-*•]|\d+[.)])\s+", "", part) for part in parts)
    sentences = (piece for part in joined for piece in re.split(r"(?<=[.!?])\s+(?=[A-Z`\"(])", " ".join(part.split())))
    return [sentence for sentence in sentences if sentence]


def _find_requests(sentence: str, loose: bool = False) -> Iterator[_Request]:
    orders = [
        match for match in _ORDER.finditer(sentence) if _is_order(sentence, match) or (loose and _may_be_order(sentence, match))
    ]
    starts = [match.start() for match in orders]
    for match, end in zip(orders, [*starts[1:], len(sentence)][: len(starts)], strict=True):
        phrase = _END_OF_OBJECT.split(sentence[match.start() : end])[0]
        yield _Request(_WAYS_BY_VERB[match[1].lower()], phrase, sentence)
    for pattern, ways in ((_EXPECTATION, EDITS), (_GOING_AWAY, (WeakeningWay.REMOVE,))):
        for match in pattern.finditer(sentence):
            yield _Request(ways, f"adapt the tests about {match[1]}", sentence)
    for match in _PASSIVE_ORDER.finditer(sentence):
        clause = re.split(r"[:;,.]\s", sentence[: match.start()])[-1]
        yield _Request(_WAYS_BY_VERB[_PARTICIPLES[match[1].lower()]], f"{clause} ", sentence)


def _find_requests_by_pronoun(sentence: str, before: str) -> Iterator[_Request]:
    """Orders about tests that were spoken of just before: `The tests of X expect Y; update them`."""
    for match in _ORDER.finditer(sentence):
        told = sentence[: match.start()]
        meant = _ANAPHOR.match(sentence, match.end())
        if not meant or not _BEFORE_ORDER.search(told) or _NEGATION.search(told) or _has_other_object(told):
            continue
        spoken = told if _TESTS.search(told) else before
        if (tests := _TESTS.search(spoken)) and not _NEGATION.search(spoken[: tests.start()]):
            about = f"{re.split(r'[;.]', spoken[tests.end() :])[0]} {_ANAPHOR_WORD.sub(' ', meant[0])}"
            named = " ".join(one[0] for one in _PATH.finditer(spoken) if is_test_code(one[0]) or is_in_test_folder(one[0]))
            whole = sentence if spoken is told else f"{before} {sentence}"
            link = "" if re.match(r"\s+(?:of|for|which|that|in|on)\b", about) else " about "
            yield _Request(_WAYS_BY_VERB[match[1].lower()], f"{match[1]} {named or f'the tests{link}{about}'}", whole)


def _has_other_object(told: str) -> bool:
    """Whether something else than tests was spoken of before the pronoun, in the same sentence or in its last clause."""
    parts = (told, re.split(r"[;:.]\s", told)[-1])
    return any(re.search(r"\w{3,}\s+\w+", part) and not _TESTS.search(part) for part in parts)


def _is_order(sentence: str, verb: re.Match[str]) -> bool:
    """In a place where English puts an order, about something, and neither denied nor told of somebody."""
    before = sentence[: verb.start()]
    led = _BEFORE_ORDER.search(before)
    adds = _WAYS_BY_VERB[verb[1].lower()] in (_ADDING, _CONFIGURING)
    if not led or _NEGATION.search(before) or not (adds or _DETERMINER.match(sentence, verb.end())):
        return False
    clause = re.split(r"[:;.!?]\s", before)[-1]
    joined = led[0].strip().lower() in ("and", "or", ",") or led[0].strip().lower().startswith(("and ", "or "))
    told = _NARRATIVE.search(clause) or (_CONDITION.match(clause) and not led[0].strip().startswith(","))
    return not (joined and told)


def _may_be_order(sentence: str, verb: re.Match[str]) -> bool:
    before = sentence[: verb.start()]
    denied = _NEGATION.search(before) or _NARRATIVE.search(before) or _CONDITION.match(before)
    return not denied and bool(_DETERMINER.match(sentence, verb.end()))


def _read_request(request: _Request, text: str, paths: Sequence[str]) -> list[LicensedChange]:
    ways, phrase = request.ways, request.phrase
    if ways == _CONFIGURING or (ways == _ADDING and not _LISTS.search(phrase)):
        return _read_settings(request, paths)
    if ways == _SKIPPING and phrase.lower().startswith("mark ") and not re.search(r"\b(?:skip\w*|x-?fail\w*)\b", phrase):
        return []
    named = _read_named(request, paths)
    if named or ways == _ADDING:
        return named + (_read_settings(request, paths) if ways != _SKIPPING and _SETTINGS.search(phrase) else [])
    tests = _TESTS.search(phrase)
    if not tests or (_AWAY_FROM_VERB.search(phrase[: tests.start()]) and not _ALSO_IN_TESTS.search(phrase)):
        return _read_settings(request, paths) if _TOOL.search(phrase) else []
    return _read_described(request, text, paths)


def _read_described(request: _Request, text: str, paths: Sequence[str]) -> list[LicensedChange]:
    """Tests by what they are about: modules, functions that the text names, or other words."""
    if of_modules := _find_tests_of_modules(request.phrase, text, paths):
        return [LicensedChange(request.ways, path) for path in of_modules]
    if _THESE_FUNCTIONS.search(request.phrase) and (names := _find_code_names(text)):
        return [LicensedChange(request.ways, words=(name,)) for name in names]
    described = _read_description(request)
    return [described] if described.words or WeakeningWay.ALTER in request.ways else []


def _find_code_names(text: str) -> list[str]:
    """Names in backticks or with brackets behind them, in the order of the text, as words."""
    found = (match[1] or match[2] for match in _CODE_NAME.finditer(text))
    return list(dict.fromkeys(split_words(name.rpartition(".")[2])[-1] for name in found))


def _read_named(request: _Request, paths: Sequence[str]) -> list[LicensedChange]:
    """Files, folders and tests by their names; a name beside one file is looked for there."""
    found = list[LicensedChange]()
    files = [path for written in _PATH.findall(request.phrase) for path in _resolve_path(written, paths)]
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
    return [match[0].replace("::", ".") for match in _TEST_NAME.finditer(_PATH.sub(" ", phrase))]


def _choose_file_ways(path: str, request: _Request) -> tuple[WeakeningWay, ...]:
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
    known = [path] if path in paths else [one for one in paths if one.endswith(f"/{path}")]
    concerned = [
        one for one in known if is_test_code(one) or is_in_test_folder(one) or get_file_name(one) in _CONFIGURATION_FILES
    ]
    return [(one, name) for one in concerned] if len(concerned) == 1 else []


def _read_settings(request: _Request, paths: Sequence[str]) -> list[LicensedChange]:
    """Settings of the tool that is named; which ones, by their names or by what the sentence speaks of."""
    files = [path for written in _PATH.findall(request.phrase) for path, _ in _resolve_path(written, paths)]
    configured = [path for path in files if is_configuration_file(path)]
    keys = _SETTINGS.findall(request.phrase)
    tool = _TOOL.search(_PATH.sub(" ", request.phrase))
    if not (configured or keys or tool):
        return []
    stems = [key for word, key in _SETTING_BY_WORD.items() if re.search(rf"\b{word}s?\b", request.phrase, re.IGNORECASE)]
    names = keys or stems or ([tool[1].lower()] if tool else [""])
    places = configured or [""]
    return [LicensedChange((WeakeningWay.CONFIGURE,), path, name) for path in places for name in dict.fromkeys(names)]


def _find_tests_of_modules(phrase: str, text: str, paths: Sequence[str]) -> list[str]:
    """Test files of the modules that the phrase names, or that the text does if it says `the tests of this module`."""
    where = text if _MODULE_TESTS.search(phrase) else phrase
    stems = {get_file_name(path).removesuffix(".py") for path in _PATH.findall(where) if path.endswith(".py")}
    wanted = {name for stem in stems for name in (f"test_{stem}.py", f"{stem}_test.py", f"test_{stem.strip('_')}.py")}
    return [path for path in paths if get_file_name(path) in wanted]


def _read_description(request: _Request) -> LicensedChange:
    """`The four tests which count warnings`: by the words that say which, and by how many they are."""
    told = _DESCRIPTION.search(request.phrase)
    object_ = told or _TESTS.search(request.phrase)
    assert object_, "a phrase about tests"
    counted = re.search(rf"\b(\d+|{'|'.join(_NUMBERS)})\b[^,;]{{0,30}}$", request.phrase[: object_.start()], re.IGNORECASE)
    single = object_[0].lower().partition(" ")[0] == "test"
    most = int(_NUMBERS.get(counted[1].lower(), 0) or counted[1]) if counted else int(single)
    words = drop_stop_words(split_words(_END_OF_DESCRIPTION.split(told[2])[0])) if told else []
    telling = dict.fromkeys(word for word in words if word not in _IDLE_WORDS)
    return LicensedChange(request.ways, words=tuple(telling), most=most)


def list_telling_words(sentence: str) -> list[str]:
    """Those that say which tests are meant: not that they are tests, nor what is to be done."""
    words = drop_stop_words(split_words(sentence))
    return [word for word in words if word not in _IDLE_WORDS and word not in _WAYS_BY_VERB and word not in _NUMBERS]
