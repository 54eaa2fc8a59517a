"""Names for new functions, made of words that the code uses itself; each with its distance from what a reviewer would choose."""

import ast
import keyword
from collections.abc import Iterator
from itertools import pairwise

from afresh.insight.complexity import FunctionNode, bodies
from afresh.insight.reshape.blocks import paragraphs
from afresh.insight.reshape.extraction import Extraction, Shape
from afresh.insight.reshape.names import own_nodes
from afresh.insight.reshape.traits import traits
from afresh.insight.reshape.verbs import acts_besides, added_to, main_verb, making_verb
from afresh.insight.reshape.wording import DUNDERS, PREFIXES, VERBS, case_words, comment_words, noun, singular, split, strong
from afresh.insight.source import Source

VAGUE = ("call", "handle", "process", "run", "use")
LONGEST = 34
MOST_WORDS = 6


def names_for(extraction: Extraction, source: Source) -> Iterator[tuple[str, float]]:
    """Candidate names, best first. None at all where the code has no word for what the block does."""
    seen: set[str] = set()
    for words, distance in sorted(_proposals(extraction, source), key=lambda proposal: proposal[1]):
        words = [word for word in words if word]
        fits = len(words) > 1 and len(words) <= MOST_WORDS and all(one != other for one, other in pairwise(words))
        name = spelled(words, source) if fits else ""
        if fits and name not in seen and len(name) <= LONGEST and name.isidentifier() and not keyword.iskeyword(name):
            seen.add(name)
            yield name, distance + 0.5 * max(0, len(words) - 4)


def spelled(words: list[str], source: Source) -> str:
    """As the file spells its own functions."""
    names = [one.node.name.strip("_") for one in source.functions]
    camel = sum(name != name.lower() and "_" not in name and name[:1].islower() for name in names)
    snake = sum("_" in name for name in names)
    if camel > 2 * snake and camel > 2:
        words = [words[0], *(word.capitalize() for word in "_".join(words[1:]).split("_"))]
        return "_" + "".join(words)
    return "_" + "_".join(words).strip("_")


def _proposals(extraction: Extraction, source: Source) -> Iterator[tuple[list[str], float]]:
    verb, _ = host_words(extraction)
    comment, subject, case = _comment(extraction, source), _subject(extraction), _condition(extraction)
    returns, long = extraction.shape is Shape.RETURN, max(0, extraction.block.lines - 15) * 0.15
    effect = "" if returns else main_verb(extraction.block.statements)
    if comment:
        said = comment[0] in VERBS or {effect, verb} & set(comment)
        yield (comment, 0.0) if said else ([effect or verb or "handle", *comment], 1.5)
    if _only_checks(extraction):
        yield _checked(extraction, subject, paragraphs(extraction.block, source)), 1.0
    yield from _of_results(extraction)
    if case and strong(case):
        own = verb or (effect if extraction.block.lines <= 25 else "")
        yield [own or "handle", *case], _vagueness(own) + 3.0 * (case[0] == "without") + bool(extraction.results)
    if extraction.results or extraction.shape is Shape.MAYBE or paragraphs(extraction.block, source):
        return
    if (filled := _filled_words(extraction)) and not returns:
        checking = verb in ("check", "validate", "verify") and strong(subject)
        yield [verb, *subject] if checking else filled, 1.5 + long + 4.0 * ("and" in filled and not checking)
    if loop := _loop_words(extraction, effect, verb):
        yield loop, 2.0 + long
    if returned := _returned(extraction):
        yield returned, 2.0
    one = sum(bool(bodies(statement)) for statement in extraction.block.statements) == 1
    if one and strong(subject) and (effect or verb) and not returns:
        yield [effect or verb, *subject], (2.5 if effect else 4.5) + long


def _vagueness(verb: str) -> float:
    """`run` and its like say less of a part than no verb at all."""
    return 4.0 if verb in VAGUE else 1.0 if verb else 2.5


def _of_results(extraction: Extraction) -> Iterator[tuple[list[str], float]]:
    words = [split(name) for name in extraction.results]
    if not words or not all(map(strong, words)):
        return
    if len(words) == 1 and words[0][0] in PREFIXES:
        yield words[0], 0.5
        return
    joined = [word for each in words for word in ("and", *each)][1:]
    made = making_verb(extraction, frozenset(extraction.results))
    aside = 5.0 * acts_besides(extraction.block.statements, frozenset(extraction.results))
    yield [made or "find", *joined], aside + (1.0 if made else 5.0)


def host_words(extraction: Extraction) -> tuple[str, list[str]]:
    """The function's own verb, if its name starts with one, and the rest of its name."""
    name = extraction.host.node.name
    if name in DUNDERS:
        return DUNDERS[name], []
    words = split(name)
    if words and words[0] in VERBS:
        return words[0], words[1:3]
    return "", words[:3]


def _comment(extraction: Extraction, source: Source) -> list[str]:
    """A comment above the block is its author's own name for it, unless it speaks of the first lines only."""
    block = extraction.block
    first = block.statements[0].lineno
    lines = [source.line(number).strip() for number in range(block.first_line, first)]
    if not lines or not all(line.startswith("#") for line in lines):
        return []
    indent = block.statements[0].col_offset
    for before, after in pairwise(block.statements):
        between = [source.line(number) for number in range((before.end_lineno or 0) + 1, after.lineno)]
        if any(not line.strip() or line[indent:].startswith("#") for line in between):
            return []
    return comment_words(" ".join(line.lstrip("#: ") for line in lines))


def _condition(extraction: Extraction) -> list[str]:
    """The case that a branch's body deals with."""
    block, parent = extraction.block, extraction.block.place.parent
    if not block.whole or block.place.statements is not getattr(parent, "body", None):
        return []
    if isinstance(parent, ast.If):
        return case_words(parent.test)
    if isinstance(parent, ast.match_case):
        return split(ast.unparse(parent.pattern).split("(")[0])[-2:]
    return []


def _filled_words(extraction: Extraction) -> list[str]:
    """What the block assigns to, if it is one or two things."""
    targets = {ast.unparse(target): target for target in _filled(extraction)}
    each = [noun(target) for target in targets.values()]
    distinct = list(dict.fromkeys(map(tuple, each)))
    if not 1 <= len(distinct) <= 2 or not all(strong(list(words)) for words in distinct):
        return []
    items = [target for target in targets.values() if _by_key(target)]
    joined = [word for words in distinct for word in ("and", *words)][1:]
    return ["update" if items else "reset" if _emptied(extraction) else "set", *joined]


def _emptied(extraction: Extraction) -> bool:
    values = [node.value for node in own_nodes(extraction.block.statements) if isinstance(node, ast.Assign)]
    filling = [value for value in values if isinstance(value, ast.Constant) and not value.value]
    return bool(filling) and len(filling) == len(_filled(extraction))


def _by_key(target: ast.expr) -> bool:
    return isinstance(target, ast.Subscript) and not isinstance(target.slice, ast.Constant)


def _filled(extraction: Extraction) -> list[ast.expr]:
    """Attributes and items that the block assigns to."""
    found = [node.targets for node in own_nodes(extraction.block.statements) if isinstance(node, ast.Assign)]
    return [target for targets in found for target in targets if isinstance(target, ast.Attribute | ast.Subscript)]


def _returned(extraction: Extraction) -> list[str]:
    """What a returning block ends with, if it made it itself."""
    last = extraction.block.statements[-1]
    if extraction.shape is not Shape.RETURN or not isinstance(last, ast.Return) or not isinstance(last.value, ast.Name):
        return []
    words = noun(last.value)
    if not strong(words) or last.value.id in extraction.parameters:
        return []
    return [making_verb(extraction, frozenset({last.value.id})) or "make", *words]


def _only_checks(extraction: Extraction) -> bool:
    """Nothing comes back, and what it does is raise."""
    held = traits(extraction.block.statements)
    calls = any(
        isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) for node in own_nodes(extraction.block.statements)
    )
    return not extraction.results and held.raises and not held.returns and not _filled(extraction) and not calls


def _checked(extraction: Extraction, subject: list[str], parted: int) -> list[str]:
    """One check by what it is about; several of the function's own arguments as that."""
    arguments = [name for name in extraction.parameters if name not in ("self", "cls")]
    if len(extraction.block.statements) > 1 and len(arguments) > 1 and set(arguments) <= set(extraction.host.arguments):
        return ["check", "arguments"]
    decisions = sum(bool(bodies(statement)) for statement in extraction.block.statements)
    return ["check", *subject] if strong(subject) and decisions == 1 and not parted else []


def _loop_words(extraction: Extraction, effect: str, verb: str) -> list[str]:
    block = extraction.block
    parent = block.place.parent
    if isinstance(parent, ast.For | ast.AsyncFor) and block.whole:
        target = noun(parent.target) if isinstance(parent.target, ast.Name) else []
        words = target if strong(target) else singular(noun(parent.iter))
        return _done_to(extraction, effect or verb or "handle", words)
    loops = [statement for statement in block.statements if bodies(statement)]
    alone = extraction.shape is not Shape.RETURN or len(block.statements) == 1
    if len(loops) == 1 and isinstance(loops[0], ast.For | ast.AsyncFor) and (effect or verb) and alone:
        return _done_to(extraction, effect or verb, noun(loops[0].iter))
    return []


def _done_to(extraction: Extraction, verb: str, words: list[str]) -> list[str]:
    """What is added may not be what is walked over: then both are said."""
    if not strong(words):
        return []
    filled = added_to(extraction.block.statements) if verb == "add" else []
    return (
        [verb, *filled, "for", *words] if filled and filled != words else [verb, *words] if not filled or filled == words else []
    )


def _subject(extraction: Extraction) -> list[str]:
    """What the first decision of the block is about."""
    for statement in extraction.block.statements:
        words: list[str] = []
        if isinstance(statement, ast.If | ast.While):
            words = _asked(statement)
        elif isinstance(statement, ast.For | ast.AsyncFor):
            words = noun(statement.iter)
        elif isinstance(statement, ast.Match):
            words = noun(statement.subject)
        elif isinstance(statement, FunctionNode):
            return []
        if strong(words):
            return words
    return []


def _asked(statement: ast.If | ast.While) -> list[str]:
    """What is asked about: the case if there is one, otherwise the thing whose cases are told apart."""
    test = statement.test
    if isinstance(test, ast.Compare) and (statement.orelse or not isinstance(test.ops[0], ast.Eq | ast.In | ast.Is)):
        return noun(test.left)
    return [word for word in case_words(test) if word != "without"]
