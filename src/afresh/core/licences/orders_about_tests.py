"""Orders in a person's sentences that are about tests: a verb in the form of an order, and the words that say of what."""

import re
from collections.abc import Iterator

from afresh.core.fast_dataclass import dataclass
from afresh.core.licences.licence_for_tests import EDITS, WeakeningWay
from afresh.core.recognise_test_files import is_in_test_folder, is_test_code

ADDING = (WeakeningWay.EXTEND,)
CONFIGURING = (WeakeningWay.CONFIGURE,)
SKIPPING = (WeakeningWay.SKIP,)
_REMOVING = (*EDITS, WeakeningWay.REMOVE)
WAYS_BY_VERB: dict[str, tuple[WeakeningWay, ...]] = {
    **dict.fromkeys(("adapt", "update", "change", "adjust", "modify", "amend", "revise", "edit", "port", "migrate"), EDITS),
    **dict.fromkeys(("convert", "relax", "loosen", "refactor", "parametrize", "parametrise", "align", "correct"), EDITS),
    **dict.fromkeys(("exclude", "except", "expect", "touch", "regenerate", "refresh", "fix", "bring"), EDITS),
    **dict.fromkeys(("rewrite", "rename", "replace", "move", "merge", "split"), _REMOVING),
    **dict.fromkeys(("remove", "delete", "drop"), (WeakeningWay.REMOVE,)),
    **dict.fromkeys(("skip", "xfail", "disable", "deselect", "ignore", "mark"), SKIPPING),
    **dict.fromkeys(("configure", "set", "let", "make", "tell"), CONFIGURING),
    **dict.fromkeys(("add", "append", "register", "include", "put", "insert", "extend"), ADDING),
}
_PARTICIPLES = {
    "adapted": "adapt", "updated": "update", "changed": "change", "adjusted": "adjust", "modified": "modify", "revised": "revise",
    "rewritten": "rewrite", "renamed": "rename", "replaced": "replace", "removed": "remove", "deleted": "delete",
    "dropped": "drop", "skipped": "skip", "xfailed": "xfail", "disabled": "disable", "ignored": "ignore", "extended": "extend",
    "regenerated": "regenerate", "refreshed": "refresh", "migrated": "migrate", "ported": "port", "converted": "convert",
    "corrected": "correct", "relaxed": "relax", "amended": "amend", "touched": "touch", "moved": "move",
}  # fmt: skip
_GERUNDS = {"updating": "update", "adapting": "adapt", "adjusting": "adjust", "changing": "change", "correcting": "correct"}
NUMBERS: dict[str, int] = dict(
    zip(("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"), range(1, 11), strict=True)
)
_ORDER = re.compile(rf"\b({'|'.join(WAYS_BY_VERB)})\b(?=\s)", re.IGNORECASE)
_PASSIVE_ORDER = re.compile(
    r"\b(?:must|should|shall|may|can|needs? to|ha(?:s|ve) to|(?:is|are) to)\s+(?:(?:also|then)\s+)?be\s+"
    rf"({'|'.join(_PARTICIPLES)})\b|\bneeds?\s+({'|'.join(_GERUNDS)})\b",
    re.IGNORECASE,
)
_BEFORE_ORDER = re.compile(
    r"(?:^|[:;,(.–—•*-]\s*|\b(?:and|or|please|also|then|must|should|shall|may|can|needs? to|ha(?:s|ve) to|go ahead|you to"
    r"|(?:free|allowed|fine|okay?|welcome) to)\s+(?:(?:also|then|please|and)\s+)?)$",
    re.IGNORECASE,
)
_NARRATIVE = re.compile(r"\b(?:I|we|he|she|they|it|users?|which|who)\b")
_CONDITION = re.compile(r"^\W*(?:when|whenever|if|after|while|once|as soon as)\b", re.IGNORECASE)
_OTHER_PEOPLE = re.compile(
    r"\b(?:users?|callers?|people|others|they|clients?|downstream|plugins?|(?:other )?projects)\s+(?:\w+\s+)?"
    r"(?:must|should|shall|may|can|needs? to|ha(?:s|ve) to)\s+$",
    re.IGNORECASE,
)
"""What others have to do is no order."""
_NEGATION = re.compile(
    r"(?:\b(?:not|never|without|cannot|avoid|nor|nobody|none of|no (?:existing )?tests?|no need to|instead of|rather than)|n't)\b"
    r"[^,;:.]{0,40}$",
    re.IGNORECASE,
)
_DETERMINER = re.compile(
    r"\s+(?:the|this|these|those|that|all|any|both|each|every|existing|our|its|their|your|old|affected|obsolete|corresponding"
    rf"|relevant|\d+|{'|'.join(NUMBERS)}|tests?|pytest|conftest|fixtures?|docs?|snapshots?|goldens?|assertions?|expect\w+|[`'\"]|[\w./:-]*test[\w./:-]*|[\w.-]+/"
    r"|[\w.]+\s+(?:in|from|of)\s+`?[\w./-]*tests?[/_])",
    re.IGNORECASE,
)
PATH_PATTERN = re.compile(
    r"(?<![\w./-])(?:[\w.-]+/)*[\w-][\w.-]*\.[A-Za-z]{1,5}\b(?:::[\w:]+)?|(?<![\w./-])(?:[\w.-]+/)+(?![\w*])"
    r"|(?<![\w./-])(?:[\w.-]+/)*(?:tests?|__tests__|spec)/(?:[\w-]+/)*[\w-]+(?![\w./-])"
)
TEST_NAME_PATTERN = re.compile(r"(?<![\w./:])(?:Test[A-Z]\w*(?:(?:::|\.)test_\w+)?|test_\w+)\b(?!\.py)")
TESTS_PATTERN = re.compile(r"\b(?:tests?|test[ -](?:suite|cases?)|suite|conftest|fixtures?)\b", re.IGNORECASE)
_END_OF_OBJECT = re.compile(
    r"\b(?:so that|such that|until|without|because|unless|in order to|as (?:tests?|the|it|in|we|they)|like|see|since|used by"
    r"|(?:and|then|but)\s+(?:run|add|write|check|verify|see|make|ensure|document|create|keep|use|fix|implement|leave|do|the\s+\w+\s+is)"
    r")\b|(?<!tests )(?<!test )(?<!suite )\(|;|, (?:then|but|which|where|while)\b",
    re.IGNORECASE,
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
_WRONG_EXPECTATION = re.compile(
    r"\b(?:expectations?|expected\s+\w+|assertions?)\s+(?:(?:in|of)\s+([^,;]+?)|(there))\s+(?:(?:is|are)\s+(?:now\s+)?"
    r"(?:wrong|outdated|incorrect|stale|obsolete)\b|changes?\b|(?:must|should|shall|ha(?:s|ve) to|needs? to)\s+"
    r"(?:change|become|be(?!\s+(?:met|kept|true|green|preserved|satisfied|left|unchanged|fulfilled|the same)\b))\b)",
    re.IGNORECASE,
)
"""`The expectation in X is wrong`, `the expected strings there change`."""
_RELIANCE = re.compile(
    r"\b(?:tests?|test cases?)\s+(?:which|that)\s+(?:still\s+)?(?:rely|relies|depends?|assumes?)\b[^,;:.]*?"
    r"\s+(?:must|should|shall|ha(?:s|ve) to|needs? to)\s+(?:now\s+)?(?:use|set|give|call|import|name|say|state|ask|request"
    r"|be (?:given|passed|told)|pass(?=\s+(?:it|them|the|an?|this|that|[\w`]+=)\b))",
    re.IGNORECASE,
)
"""`Tests which rely on the old default need to pass it explicitly`: no word of a test says that it does."""
_OUTDATED = r"(?:old|wrong|outdated|stale|incorrect|obsolete|former|previous)"
_WRONG_TESTS = re.compile(
    rf"\b{_OUTDATED}\s+(?:\w+\s+){{0,2}}?(?:tests?|expectations?|assertions?)\b|\btest\w*(?:\s+(?:which|that))?\s+(?:still\s+)?"
    rf"(?:asserts?|expects?|checks?|checked|expected|asserted|rel(?:y|ies) on|uses?|hard-?codes?)\b[^.;]*\b{_OUTDATED}\b",
    re.IGNORECASE,
)
_IN_LINE = re.compile(r"\b(?:in(?:to)? line|up to date|in sync)\b", re.IGNORECASE)
_NEW_USE = re.compile(r"\s+(?:them|it)\s+(?:use|expect|assert|check|compare|accept|import|call|take|set)\b", re.IGNORECASE)
"""After `make`: `make them use tmp_path`, and not `make them pass`."""
_ANAPHOR_WORD = re.compile(r"\b(?:them|those|these|it|there)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class TestOrder:
    """An order in a sentence: its verb, and the words that say of what."""

    ways: tuple[WeakeningWay, ...]
    phrase: str
    sentence: str


def split_sentences(text: str) -> list[str]:
    """Each in one line; the items of a list are sentences of their own."""
    plain = re.sub(r"```.*?(?:```|\Z)", " ", text, flags=re.DOTALL)
    parts = re.split(r"\n\s*\n|\n\s*(?=(?:[-*•]|\d+[.)])\s)", plain)
    joined = (re.sub(r"^\s*(?:[-*•]|\d+[.)])\s+", "", part) for part in parts)
    sentences = (piece for part in joined for piece in re.split(r"(?<=[.!?])\s+(?=[A-Z`\"(])", " ".join(part.split())))
    return [sentence for sentence in sentences if sentence]


def _find_orders_by_verb(sentence: str, loose: bool) -> Iterator[TestOrder]:
    orders = [
        match for match in _ORDER.finditer(sentence) if _is_order(sentence, match) or (loose and _may_be_order(sentence, match))
    ]
    starts = [match.start() for match in orders]
    for match, end in zip(orders, [*starts[1:], len(sentence)][: len(starts)], strict=True):
        phrase = _END_OF_OBJECT.split(sentence[match.start() : end])[0]
        if _changes_tests(match[1], phrase):
            yield TestOrder(WAYS_BY_VERB[match[1].lower()], phrase, sentence)
    yield from _find_orders_by_expectation(sentence)


def _changes_tests(verb: str, phrase: str) -> bool:
    """Some verbs ask for a change of tests only if more is said: to fix a test may be to fix what it tests."""
    needed = {"fix": _WRONG_TESTS, "bring": _IN_LINE}.get(verb.lower())
    return not needed or bool(needed.search(phrase))


def _find_orders_by_expectation(sentence: str) -> Iterator[TestOrder]:
    """What tests must expect or do from now on, said of the tests themselves."""
    for match in _WRONG_EXPECTATION.finditer(sentence):
        if not _NEGATION.search(sentence[: match.start()]):
            yield TestOrder(EDITS, f"adapt {match[1] or ' '.join(list_named_tests(sentence[: match.start()]))} ", sentence)
    if _RELIANCE.search(sentence):
        yield TestOrder(EDITS, "adapt the tests", sentence)
    for pattern, ways in ((_EXPECTATION, EDITS), (_GOING_AWAY, (WeakeningWay.REMOVE,))):
        for match in pattern.finditer(sentence):
            yield TestOrder(ways, f"adapt the tests about {match[1]}", sentence)
    for match in _PASSIVE_ORDER.finditer(sentence):
        clause = re.split(r"[:;,.]\s", sentence[: match.start()])[-1]
        verb = _PARTICIPLES[match[1].lower()] if match[1] else _GERUNDS[match[2].lower()]
        if not _NEGATION.search(clause):
            yield TestOrder(WAYS_BY_VERB[verb], f"{clause} ", sentence)


def _find_orders_by_pronoun(sentence: str, before: str) -> Iterator[TestOrder]:
    """Orders about tests that were spoken of just before: `The tests of X expect Y; update them`."""
    for match in _ORDER.finditer(sentence):
        told = sentence[: match.start()]
        meant = _ANAPHOR.match(sentence, match.end())
        if not meant or not _BEFORE_ORDER.search(told) or _NEGATION.search(told) or _has_other_object(told):
            continue
        spoken = told if _find_tests(told) else before
        ways = _read_pronoun_ways(match, sentence, spoken)
        if ways and (tests := _find_tests(spoken)) and not _NEGATION.search(spoken[: tests.start()]):
            about = f"{re.split(r'[;.]', spoken[tests.end() :])[0]} {_ANAPHOR_WORD.sub(' ', meant[0])}"
            named = " ".join(list_named_tests(spoken))
            whole = sentence if spoken is told else f"{before} {sentence}"
            link = "" if re.match(r"\s+(?:of|for|which|that|in|on)\b", about) else " about "
            yield TestOrder(ways, f"{match[1]} {named or f'the tests{link}{about}'}", whole)


def _read_pronoun_ways(verb: re.Match[str], sentence: str, spoken: str) -> tuple[WeakeningWay, ...]:
    """What `update them` or `make them use X` allows; nothing if it may be about what the tests test."""
    if verb[1].lower() in ("make", "let"):
        return EDITS if _NEW_USE.match(sentence, verb.end()) else ()
    return WAYS_BY_VERB[verb[1].lower()] if _changes_tests(verb[1], spoken) else ()


def _find_tests(text: str) -> re.Match[str] | None:
    return TESTS_PATTERN.search(text) or TEST_NAME_PATTERN.search(text)


def list_named_tests(text: str) -> list[str]:
    """Files and folders of tests, and tests by their names."""
    files = [one[0] for one in PATH_PATTERN.finditer(text) if is_test_code(one[0]) or is_in_test_folder(one[0])]
    return [*files, *(one[0] for one in TEST_NAME_PATTERN.finditer(PATH_PATTERN.sub(" ", text)))]


def _has_other_object(told: str) -> bool:
    """Whether something else than tests was spoken of before the pronoun, in the same sentence or in its last clause."""
    parts = (told, re.split(r"[;:.]\s", told)[-1])
    return any(re.search(r"\w{3,}\s+\w+", part) and not _find_tests(part) for part in parts)


def _is_order(sentence: str, verb: re.Match[str]) -> bool:
    """In a place where English puts an order, about something, and neither denied nor told of somebody."""
    before = sentence[: verb.start()]
    led = _BEFORE_ORDER.search(before)
    adds = WAYS_BY_VERB[verb[1].lower()] in (ADDING, CONFIGURING)
    if (
        not led
        or _NEGATION.search(before)
        or _OTHER_PEOPLE.search(before)
        or not (adds or _DETERMINER.match(sentence, verb.end()))
    ):
        return False
    clause = re.split(r"[:;.!?]\s", before)[-1]
    joined = led[0].strip().lower() in ("and", "or", ",") or led[0].strip().lower().startswith(("and ", "or "))
    told = _NARRATIVE.search(clause) or (_CONDITION.match(clause) and not led[0].strip().startswith(","))
    return not (joined and told)


def _may_be_order(sentence: str, verb: re.Match[str]) -> bool:
    before = sentence[: verb.start()]
    denied = _NEGATION.search(before) or _NARRATIVE.search(before) or _CONDITION.match(before)
    return not denied and bool(_DETERMINER.match(sentence, verb.end()))


def find_test_orders(sentence: str, before: str, loose: bool = False) -> Iterator[TestOrder]:
    """All orders of a sentence, those about tests that the sentence before speaks of included. `loose`: a verb counts wherever it
    is, unless it is denied or told of somebody."""
    yield from _find_orders_by_verb(sentence, loose)
    yield from _find_orders_by_pronoun(sentence, before)
