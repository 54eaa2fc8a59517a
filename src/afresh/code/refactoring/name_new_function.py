"""Names for new functions, made of words that the code uses itself; each with its distance from what a reviewer would choose."""

import ast
import keyword
from collections.abc import Iterator
from itertools import pairwise

from afresh.code.complexity import FunctionNode, list_statement_bodies
from afresh.code.python_source import PythonSource
from afresh.code.refactoring.block_verb import find_filled_collection, find_main_verb, find_making_verb, has_other_effects
from afresh.code.refactoring.blocks import combine_traits, count_paragraph_breaks
from afresh.code.refactoring.identifier_words import (
    DUNDER_VERBS,
    PREDICATE_PREFIXES,
    VERBS,
    find_case_words,
    find_comment_words,
    find_noun,
    is_specific_name,
    make_singular,
    split_identifier,
)
from afresh.code.refactoring.name_usage import walk_own_scope
from afresh.code.refactoring.plan_extraction import Extraction, ExtractionShape

VAGUE_VERBS = ("call", "handle", "process", "run", "use")
MAX_NAME_CHARACTERS = 34
MAX_NAME_WORDS = 6


def propose_names(extraction: Extraction, source: PythonSource) -> Iterator[tuple[str, float]]:
    """Candidate names, best first. None at all where the code has no word for what the block does."""
    seen: set[str] = set()
    for words, distance in sorted(_proposals(extraction, source), key=lambda proposal: proposal[1]):
        words = [word for word in words if word]
        fits = len(words) > 1 and len(words) <= MAX_NAME_WORDS and all(one != other for one, other in pairwise(words))
        name = spell_name(words, source) if fits else ""
        if fits and name not in seen and len(name) <= MAX_NAME_CHARACTERS and name.isidentifier() and not keyword.iskeyword(name):
            seen.add(name)
            yield name, distance + 0.5 * max(0, len(words) - 4)


def spell_name(words: list[str], source: PythonSource) -> str:
    """As the file spells its own functions."""
    names = [one.node.name.strip("_") for one in source.functions]
    camel = sum(name != name.lower() and "_" not in name and name[:1].islower() for name in names)
    snake = sum("_" in name for name in names)
    if camel > 2 * snake and camel > 2:
        words = [words[0], *(word.capitalize() for word in "_".join(words[1:]).split("_"))]
        return "_" + "".join(words)
    return "_" + "_".join(words).strip("_")


def _proposals(extraction: Extraction, source: PythonSource) -> Iterator[tuple[list[str], float]]:
    verb, _ = split_function_name(extraction)
    comment, subject, case = (
        _words_from_comment(extraction, source),
        _words_from_first_decision(extraction),
        _words_from_condition(extraction),
    )
    returns, long = extraction.shape is ExtractionShape.RETURN, max(0, extraction.block.lines - 15) * 0.15
    effect = "" if returns else find_main_verb(extraction.block.statements)
    if comment:
        said = comment[0] in VERBS or {effect, verb} & set(comment)
        yield (comment, 0.0) if said else ([effect or verb or "handle", *comment], 1.5)
    if _only_checks(extraction):
        yield _words_for_check(extraction, subject, count_paragraph_breaks(extraction.block, source)), 1.0
    yield from _names_from_results(extraction)
    if case and is_specific_name(case):
        own = verb or (effect if extraction.block.lines <= 25 else "")
        yield [own or "handle", *case], _score_vagueness(own) + 3.0 * (case[0] == "without") + bool(extraction.results)
    if extraction.results or extraction.shape is ExtractionShape.MAYBE or count_paragraph_breaks(extraction.block, source):
        return
    if (filled := _filled_words(extraction)) and not returns:
        checking = verb in ("check", "validate", "verify") and is_specific_name(subject)
        yield [verb, *subject] if checking else filled, 1.5 + long + 4.0 * ("and" in filled and not checking)
    if loop := _loop_words(extraction, effect, verb):
        yield loop, 2.0 + long
    if returned := _words_from_return(extraction):
        yield returned, 2.0
    one = sum(bool(list_statement_bodies(statement)) for statement in extraction.block.statements) == 1
    if one and is_specific_name(subject) and (effect or verb) and not returns:
        yield [effect or verb, *subject], (2.5 if effect else 4.5) + long


def _score_vagueness(verb: str) -> float:
    """`run` and its like say less of a part than no verb at all."""
    return 4.0 if verb in VAGUE_VERBS else 1.0 if verb else 2.5


def _names_from_results(extraction: Extraction) -> Iterator[tuple[list[str], float]]:
    words = [split_identifier(name) for name in extraction.results]
    if not words or not all(map(is_specific_name, words)):
        return
    if len(words) == 1 and words[0][0] in PREDICATE_PREFIXES:
        yield words[0], 0.5
        return
    joined = [word for each in words for word in ("and", *each)][1:]
    made = find_making_verb(extraction, frozenset(extraction.results))
    aside = 5.0 * has_other_effects(extraction.block.statements, frozenset(extraction.results))
    yield [made or "find", *joined], aside + (1.0 if made else 5.0)


def split_function_name(extraction: Extraction) -> tuple[str, list[str]]:
    """The function's own verb, if its name starts with one, and the rest of its name."""
    name = extraction.host.node.name
    if name in DUNDER_VERBS:
        return DUNDER_VERBS[name], []
    words = split_identifier(name)
    if words and words[0] in VERBS:
        return words[0], words[1:3]
    return "", words[:3]


def _words_from_comment(extraction: Extraction, source: PythonSource) -> list[str]:
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
    return find_comment_words(" ".join(line.lstrip("#: ") for line in lines))


def _words_from_condition(extraction: Extraction) -> list[str]:
    """The case that a branch's body deals with."""
    block, parent = extraction.block, extraction.block.place.parent
    if not block.whole or block.place.statements is not getattr(parent, "body", None):
        return []
    if isinstance(parent, ast.If):
        return find_case_words(parent.test)
    if isinstance(parent, ast.match_case):
        return split_identifier(ast.unparse(parent.pattern).split("(")[0])[-2:]
    return []


def _filled_words(extraction: Extraction) -> list[str]:
    """What the block assigns to, if it is one or two things."""
    targets = {ast.unparse(target): target for target in _find_filled_targets(extraction)}
    each = [find_noun(target) for target in targets.values()]
    distinct = list(dict.fromkeys(map(tuple, each)))
    if not 1 <= len(distinct) <= 2 or not all(is_specific_name(list(words)) for words in distinct):
        return []
    items = [target for target in targets.values() if _is_keyed_item(target)]
    joined = [word for words in distinct for word in ("and", *words)][1:]
    return ["update" if items else "reset" if _only_empties(extraction) else "set", *joined]


def _only_empties(extraction: Extraction) -> bool:
    values = [node.value for node in walk_own_scope(extraction.block.statements) if isinstance(node, ast.Assign)]
    filling = [value for value in values if isinstance(value, ast.Constant) and not value.value]
    return bool(filling) and len(filling) == len(_find_filled_targets(extraction))


def _is_keyed_item(target: ast.expr) -> bool:
    return isinstance(target, ast.Subscript) and not isinstance(target.slice, ast.Constant)


def _find_filled_targets(extraction: Extraction) -> list[ast.expr]:
    """Attributes and items that the block assigns to."""
    found = [node.targets for node in walk_own_scope(extraction.block.statements) if isinstance(node, ast.Assign)]
    return [target for targets in found for target in targets if isinstance(target, ast.Attribute | ast.Subscript)]


def _words_from_return(extraction: Extraction) -> list[str]:
    """What a returning block ends with, if it made it itself."""
    last = extraction.block.statements[-1]
    if extraction.shape is not ExtractionShape.RETURN or not isinstance(last, ast.Return) or not isinstance(last.value, ast.Name):
        return []
    words = find_noun(last.value)
    if not is_specific_name(words) or last.value.id in extraction.parameters:
        return []
    return [find_making_verb(extraction, frozenset({last.value.id})) or "make", *words]


def _only_checks(extraction: Extraction) -> bool:
    """Nothing comes back, and what it does is raise."""
    held = combine_traits(extraction.block.statements)
    calls = any(
        isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) for node in walk_own_scope(extraction.block.statements)
    )
    return not extraction.results and held.raises and not held.returns and not _find_filled_targets(extraction) and not calls


def _words_for_check(extraction: Extraction, subject: list[str], parted: int) -> list[str]:
    """One check by what it is about; several of the function's own arguments as that."""
    arguments = [name for name in extraction.parameters if name not in ("self", "cls")]
    if len(extraction.block.statements) > 1 and len(arguments) > 1 and set(arguments) <= set(extraction.host.arguments):
        return ["check", "arguments"]
    decisions = sum(bool(list_statement_bodies(statement)) for statement in extraction.block.statements)
    return ["check", *subject] if is_specific_name(subject) and decisions == 1 and not parted else []


def _loop_words(extraction: Extraction, effect: str, verb: str) -> list[str]:
    block = extraction.block
    parent = block.place.parent
    if isinstance(parent, ast.For | ast.AsyncFor) and block.whole:
        target = find_noun(parent.target) if isinstance(parent.target, ast.Name) else []
        words = target if is_specific_name(target) else make_singular(find_noun(parent.iter))
        return _words_for_loop_effect(extraction, effect or verb or "handle", words)
    loops = [statement for statement in block.statements if list_statement_bodies(statement)]
    alone = extraction.shape is not ExtractionShape.RETURN or len(block.statements) == 1
    if len(loops) == 1 and isinstance(loops[0], ast.For | ast.AsyncFor) and (effect or verb) and alone:
        return _words_for_loop_effect(extraction, effect or verb, find_noun(loops[0].iter))
    return []


def _words_for_loop_effect(extraction: Extraction, verb: str, words: list[str]) -> list[str]:
    """What is added may not be what is walked over: then both are said."""
    if not is_specific_name(words):
        return []
    filled = find_filled_collection(extraction.block.statements) if verb == "add" else []
    return (
        [verb, *filled, "for", *words] if filled and filled != words else [verb, *words] if not filled or filled == words else []
    )


def _words_from_first_decision(extraction: Extraction) -> list[str]:
    """What the first decision of the block is about."""
    for statement in extraction.block.statements:
        words: list[str] = []
        if isinstance(statement, ast.If | ast.While):
            words = _words_from_test(statement)
        elif isinstance(statement, ast.For | ast.AsyncFor):
            words = find_noun(statement.iter)
        elif isinstance(statement, ast.Match):
            words = find_noun(statement.subject)
        elif isinstance(statement, FunctionNode):
            return []
        if is_specific_name(words):
            return words
    return []


def _words_from_test(statement: ast.If | ast.While) -> list[str]:
    """What is asked about: the case if there is one, otherwise the thing whose cases are told apart."""
    test = statement.test
    if isinstance(test, ast.Compare) and (statement.orelse or not isinstance(test.ops[0], ast.Eq | ast.In | ast.Is)):
        return find_noun(test.left)
    return [word for word in find_case_words(test) if word != "without"]
