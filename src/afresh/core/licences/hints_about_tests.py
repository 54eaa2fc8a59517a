"""Sentences which imply that existing tests are no longer right, without an order to change them.

"The suite still expects the old message", "these have to be turned round", "lots of the expectations come from rounding down".
People say this in too many ways for a grammar, so it goes by words, and a hint is no full licence: a test that was altered
because of it must fail on the code of the base, one that was removed must fail on the new code
(`verification/prove_hinted_changes.py`).
"""

import re
from collections.abc import Iterator

from afresh.core.fast_dataclass import dataclass
from afresh.core.licences.licence_for_tests import EDITS, WeakeningWay
from afresh.core.licences.orders_about_tests import TEST_NAME_PATTERN, list_named_tests, split_sentences

_TESTS = re.compile(
    r"\b(?:tests?|testing|test[- ](?:suites?|cases?|data|modules?|files?|rows?)|suite|specs?|doctests?|conftest|fixtures?"
    r"|snapshots?|goldens?|cassettes?|assert(?:ion)?s?|expectations?|expected (?:\w+ )?(?:output|results?|values?|strings?)"
    r"|expected \w+s|parametri[sz]ed|parametri[sz]ations?|baselines?|regression (?:data|files?)"
    r"|reference (?:values|data|files)|markers?|(?:\w+[- ])?(?:marked )?cases|samples)\b",
    re.IGNORECASE,
)
_STALE = re.compile(
    r"\b(?:old|outdated|out of date|stale|obsolete|wrong\w*|incorrect\w*|no longer|any ?more|still|left-?overs?|legacy|former"
    r"|previous|historical|today's|current(?:ly)?|bak(?:es?|ed)|enshrin\w+|pin(?:s|ned)?|hard-?cod\w+|encod\w+|assum\w+"
    r"|rel(?:y|ies|ied) on|com(?:es?|ing) from|written (?:for|when|against|around)|made for|based on|computed|generated|recorded"
    r"|produced|calculated|ca(?:tch|ught) up|lags?|contradict\w*|disagree\w*|conflict\w*|invalid(?:ated)?|mirror\w*|freez\w*"
    r"|frozen|codif\w+|cement\w*|lock(?:s|ed)? in|exists? only|never a decision)\b",
    re.IGNORECASE,
)
_CHANGE = re.compile(
    r"\b(?:chang(?!e-?log)\w+|updat\w+|adapt\w*|adjust\w*|alter\w*|amend\w*|modif\w+|edit(?:s|ed|ing)?|fix(?:ed|ing)? (?:\w+ )?up"
    r"|correct(?:ed|ing)?|flip\w*|invert\w*|revers\w+|turn\w* (?:\w+ )?(?:a?round|over|into)|opposite|rewrit\w+|rework\w*"
    r"|revis\w+|touch\w*|renam\w+|mov(?:e|es|ed|ing)|regenerat\w*|re-?record\w*|reproduced?|refresh\w*|re-?bless\w*|bless"
    r"|bump\w*|tweak\w*|reflect\w*|accordingly|in (?:line|sync)|replac\w+|swap\w*|loosen\w*|relax\w*|simplif\w+|truncat\w+"
    r"|clean(?:ed)? up|migrat\w+|port(?:ed|ing)?|convert\w*|follow(?:s|ed)?|match(?:es)? (?:the )?new|shrink\w*|merg\w+|split"
    r"|make (?:it|them)|make the (?:\w+ ){0,3}tests|different|now (?:expect|be|say|return|raise|use)\w*|ought to|can be strict"
    r"|expected to (?:break|fail|go red)|will (?:break|fail|go red|need|have)|go red|break|need (?:work|attention|love))\b",
    re.IGNORECASE,
)
_REMOVAL = re.compile(
    r"\b(?:remov\w+|delet\w+|drop\w*|goes|gone|go(?: away)?|get rid|rid of|kill\w*|retire\w*|tak(?:e|en|ing) (?:\w+ ){0,3}?out"
    r"|cut(?:ting)?|strip\w*|throw\w* (?:\w+ )?(?:away|out)|(?:not|\w+n't|no) (?:\w+ ){0,3}?(?:keep|worth|need\w*|have to|reason)"
    r"|nothing (?:left )?to test|unneeded|pointless|redundant|superfluous|meaningless|obsolete|die|dies)\b",
    re.IGNORECASE,
)
_PROTECTED = re.compile(
    r"\b(?:do not|don't|dont|never|must not|mustn't|should not|shouldn't|may not|cannot|can't|please no|no need to|without|avoid"
    r"|instead of|rather than)\s+(?:\w+\s+){0,2}?(?:chang|touch|modif|edit|alter|weaken|adapt|adjust|updat|skip|disabl|delet"
    r"|remov|rewrit|relax|loosen|break|mess|rearrang)\w*"
    r"|\b(?:keep|stay|remain|leave|left|continue|go on)\w*\s+(?:\w+\s+){0,6}?(?:pass\w*|green|unchanged|untouched|intact"
    r"|as (?:it|they) (?:is|are|was|were)|alone|valid|working|happy)\b"
    r"|\b(?:unchanged|untouched|as[- ]is|unmodified|off[- ]limits|hands off|read-only|source of truth)\b"
    r"|\b(?:still|must|should|shall|has to|have to|needs? to|all|continue to)\s+(?:\w+\s+){0,4}?"
    r"(?:pass(?:es)?|be green|be happy|succeed)\b"
    r"|\bno\s+(?:\w+\s+){0,2}?(?:chang|edit|modification)\w*\s+(?:to|in|of)\b"
    r"|\bdocuments? the (?:intended|right|correct|wanted)\b"
    r"|\b(?:users?'?s?|downstream|customers?'?|their|your own|other (?:project|people|team)s?'?)\s+(?:\w+\s+)?(?:own )?"
    r"(?:tests?|suites?)\b",
    re.IGNORECASE,
)
_FAILING = re.compile(
    r"\b(?:fail(?:s|ed|ing|ure)?|red|broken|crash\w*|flak\w+|hang\w*|times? out|timed out|errors? out|intermittent\w*|explod\w*"
    r"|blow\w* up)\b",
    re.IGNORECASE,
)
_ADDING = re.compile(
    r"\b(?:add|write|include|provide|want|like|with|need|needs|cover|covered|contribute|create|bring|have|missing|lacks?|new|more|few"
    r"|another|extra|additional|a|regression)\s+(?:\w+\s+){0,5}?"
    r"(?:tests?|test cases?|fixtures?|snapshots?|doctests?|specs?|assertions?|coverage)\b",
    re.IGNORECASE,
)
_ADDED_TESTS = re.compile(
    r"\b(?:add|write|include|provide|contribute|create)\s+(?P<before>(?:[^\s.;:!?]+\s+){0,9}?)tests?\b"
    r"(?!.*\b(?:them|these|those|ones)\b)(?P<after>\s*(?:[.,;:!?)]|$|(?:for|too|as well)\b))?",
    re.IGNORECASE,
)
"""`…, and add tests`, `add a note, and tests`: these are still to be written."""
_RELATIVE = re.compile(r"\b(?:which|that|so|because|since|when|where|if|until|but)\b", re.IGNORECASE)
_OTHER_THAN_ADDED = re.compile(rf"{_RELATIVE.pattern}|\b(?:the|its|our|their|all|any|every|existing|to)\b", re.IGNORECASE)
_REPORT = re.compile(r"\bexpected\b[^.]*\b(?:but|got|instead|actual)\b|\bexpected (?:behaviou?r)\b", re.IGNORECASE)
_PRONOUN = re.compile(r"\b(?:them|these|those|they|it|that one|this one|its)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class TestHint:
    """A sentence that implies changes of existing tests."""

    ways: tuple[WeakeningWay, ...]
    sentence: str


def find_test_hints(text: str, loose: bool = False) -> Iterator[TestHint]:
    """Each sentence that speaks of tests as something that does not fit any more; a pronoun may stand for the tests of the
    sentence before. `loose`: each that speaks of tests and neither protects them nor only asks for more."""
    before = ""
    for sentence in split_sentences(text):
        if _speaks_of_tests(sentence) or (_speaks_of_tests(before) and _PRONOUN.search(sentence)):
            ways = _read_ways(sentence, loose)
            if ways:
                yield TestHint(ways, sentence)
        before = sentence


def find_protection(text: str) -> str:
    """The first sentence that forbids changes of tests; empty if there is none."""
    return next((one for one in split_sentences(text) if _speaks_of_tests(one) and _PROTECTED.search(one)), "")


def _speaks_of_tests(sentence: str) -> bool:
    """Of tests that there are."""
    sentence = _ADDED_TESTS.sub(lambda match: match[0] if _is_about_others(match) else " ", sentence)
    return bool(_TESTS.search(sentence) or TEST_NAME_PATTERN.search(sentence) or list_named_tests(sentence))


def _is_about_others(match: re.Match[str]) -> bool:
    """Whether what stands between the verb and `tests` says that these are not what is added."""
    *beside, near = re.split(r",|\band\b", match["before"])
    if beside and match["after"] is None:
        return True
    words = (_CHANGE, _STALE, _REMOVAL)
    return bool(
        _RELATIVE.search(" ".join(beside)) or _OTHER_THAN_ADDED.search(near) or any(one.search(match["before"]) for one in words)
    )


def _read_ways(sentence: str, loose: bool) -> tuple[WeakeningWay, ...]:
    removes, changes = _REMOVAL.search(sentence), _CHANGE.search(sentence) or _STALE.search(sentence)
    if _PROTECTED.search(sentence) or _REPORT.search(sentence) or not (loose or removes or changes):
        return ()
    if (_FAILING.search(sentence) or _ADDING.search(sentence)) and not (removes or _CHANGE.search(sentence)):
        return ()
    return (*EDITS, WeakeningWay.REMOVE) if removes else EDITS
