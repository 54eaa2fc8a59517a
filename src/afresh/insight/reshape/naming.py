"""Names for new functions, made of words that the code uses itself."""

import ast
import keyword
import re
from collections.abc import Iterator

from afresh.insight.complexity import FunctionNode, Loop
from afresh.insight.reshape.extraction import Extraction, Shape
from afresh.insight.reshape.names import own_nodes
from afresh.insight.reshape.traits import traits
from afresh.insight.source import Source

VERBS = frozenset(
    """
    add append apply assert build calculate check choose clean collect compute convert copy count create decode
    delete describe draw emit encode ensure escape evaluate expand extend extract fetch fill filter find finish fix
    format generate get handle init insert iter join load lookup make mark match merge move normalize open parse
    pick place prepare price print process quote raise read record register remove render replace report resolve run
    save scan select send set show skip sort split start store strip sum take test tokenize transform translate trim
    unescape unpack update validate verify visit wrap write yield
    """.split()  # noqa: SIM905
)
FILLER = {
    "a",
    "an",
    "the",
    "this",
    "that",
    "we",
    "if",
    "it",
    "is",
    "are",
    "to",
    "of",
    "now",
    "then",
    "and",
    "just",
    "here",
    "our",
}
COLLECTING = {"append", "add", "extend", "insert", "update", "setdefault"}
TRANSPARENT = frozenset(
    """
    dict enumerate float getattr int items iter keys len list lower max min reversed round set sorted split splitlines str strip
    tuple upper values
    """.split()  # noqa: SIM905
)
LONGEST = 36


def names_for(extraction: Extraction, source: Source) -> Iterator[tuple[str, int]]:
    """Candidate names, best first, each with how far it is from what a reviewer would choose (0 is best)."""
    seen: set[str] = set()
    for words, distance in _proposals(extraction, source):
        name = "_" + "_".join(word for word in words if word).strip("_")
        if name not in seen and 3 < len(name) <= LONGEST and name.isidentifier() and not keyword.iskeyword(name):
            seen.add(name)
            yield name, distance


def _proposals(extraction: Extraction, source: Source) -> Iterator[tuple[list[str], int]]:
    verb, noun = _host_words(extraction)
    comment, subject = _comment(extraction, source), _subject(extraction)
    if comment and comment[0] in VERBS:
        yield comment, 0
    if condition := _condition(extraction):
        yield ([verb, *condition] if verb else [*condition, *noun]), 1
    if made := _made(extraction):
        yield made, 1
    if extraction.results:
        yield [_making_verb(extraction), extraction.results[0]], 2
    if _only_checks(extraction):
        yield ["check", *(subject or noun)], 1
    if comment:
        yield [verb, *comment], 2
    if words := _loop_words(extraction, verb):
        yield words, 2
    if subject:
        yield [verb or "handle", *subject], 3
        yield [verb or "handle", *subject, *noun], 4
    end = "finish" if extraction.block.at_end and extraction.block.place.ends_function else "prepare"
    yield [end, verb, *noun], 5
    yield from (([end, verb, *noun, str(number)], 6) for number in range(2, 9))


def _made(extraction: Extraction) -> list[str]:
    """What the block is there for: its results, the object that it returns, the one place that it fills."""
    last = extraction.block.statements[-1]
    if extraction.results:
        return [_making_verb(extraction), *_and(extraction.results)]
    if extraction.shape is Shape.RETURN and isinstance(last, ast.Return) and last.value is not None:
        words = _noun(last.value) if isinstance(last.value, ast.Call | ast.Name) else []
        return words if words and words[0] in VERBS else [_making_verb(extraction), *words] if words else []
    filled = {ast.unparse(target): target for target in _filled(extraction)}
    if len(filled) == 1:
        return ["set", *_noun(next(iter(filled.values())))]
    return []


def _filled(extraction: Extraction) -> list[ast.expr]:
    """Attributes and items that the block assigns to."""
    found = [node.targets for node in own_nodes(extraction.block.statements) if isinstance(node, ast.Assign)]
    return [target for targets in found for target in targets if isinstance(target, ast.Attribute | ast.Subscript)]


def _host_words(extraction: Extraction) -> tuple[str, list[str]]:
    """The function's own verb, if its name starts with one, and the rest of its name."""
    words = split(extraction.host.node.name)
    if words and words[0] in VERBS:
        return words[0], words[1:3]
    return "", words[:3]


def _comment(extraction: Extraction, source: Source) -> list[str]:
    """A short comment above the block is its author's own name for it."""
    block = extraction.block
    if block.first_line == block.statements[0].lineno:
        return []
    text = " ".join(source.line(number).strip().lstrip("#: ") for number in range(block.first_line, block.statements[0].lineno))
    text = re.split(r"[.,;:(–—]| - ", text)[0].strip()
    words = [word for word in text.lower().replace("'s", "").split() if word not in FILLER]
    plain = all(re.fullmatch(r"[a-z][a-z0-9_-]*", word) for word in words)
    if not plain or not 2 <= len(words) <= 4 or words[0] in ("todo", "fixme", "xxx", "type", "pragma", "noqa", "note", "no"):
        return []
    return [word.replace("-", "_") for word in words]


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


def case_words(test: ast.expr) -> list[str]:
    """The case that a condition asks for, in the words of its operands."""
    match test:
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return ["missing", *case_words(operand)]
        case ast.BoolOp():
            return case_words(test.values[0])
        case ast.Compare():
            return _compared(test)
        case ast.Call(func=ast.Name(id="isinstance"), args=[_, kind]):
            return _noun(kind)
        case _:
            return _noun(test)


def _compared(test: ast.Compare) -> list[str]:
    operator, right = test.ops[0], test.comparators[0]
    if isinstance(right, ast.Constant) and right.value is None:
        return [*(["missing"] if isinstance(operator, ast.Is | ast.Eq) else []), *_noun(test.left)]
    named = _noun(right) if isinstance(operator, ast.Eq | ast.In) else []
    return named or _noun(test.left)


def _noun(node: ast.expr) -> list[str]:
    match node:
        case ast.Constant(value=str(text)) if re.fullmatch(r"[A-Za-z][\w -]{1,20}", text):
            return split(text)[:2]
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return [word for word in split(name) if len(word) > 1][:3]
        case ast.Call():
            return _noun(_called(node))
        case ast.Subscript(value=value, slice=index):
            return (_noun(index) if isinstance(index, ast.Constant) else []) or _noun(value)
        case ast.NamedExpr(target=inner) | ast.Starred(value=inner) | ast.Tuple(elts=[inner, *_]):
            return _noun(inner)
        case _:
            return []


def _called(call: ast.Call) -> ast.expr:
    """What a call is about: its argument or its object where the function itself says nothing."""
    name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    if name in TRANSPARENT and call.args:
        return call.args[0]
    return call.func.value if name in TRANSPARENT and isinstance(call.func, ast.Attribute) else call.func


def _making_verb(extraction: Extraction) -> str:
    nodes = list(own_nodes(extraction.block.statements))
    calls = {node.func.attr for node in nodes if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)}
    first = extraction.block.statements[0]
    if any(isinstance(node, FunctionNode) for node in extraction.block.statements):
        return "make"
    if calls & COLLECTING:
        return "collect"
    if any(isinstance(node, ast.AugAssign) for node in nodes):
        return "compute"
    if isinstance(first, ast.If) and len(extraction.block.statements) == 1:
        return "choose"
    return "make" if extraction.shape is Shape.RETURN else "find"


def _and(results: tuple[str, ...]) -> list[str]:
    return [word for name in results for word in ("and", *split(name))][1:]


def _only_checks(extraction: Extraction) -> bool:
    """Nothing comes back, and what it does is raise."""
    held = traits(extraction.block.statements)
    return not extraction.results and held.raises and not held.returns and not _filled(extraction)


def _loop_words(extraction: Extraction, verb: str) -> list[str]:
    block = extraction.block
    parent = block.place.parent
    if isinstance(parent, ast.For | ast.AsyncFor) and block.start <= 1 and block.at_end:
        return [verb or "handle", *_noun(parent.target if isinstance(parent.target, ast.Name) else parent.iter)]
    loops = [statement for statement in block.statements if isinstance(statement, Loop)]
    if len(loops) == 1 and isinstance(loops[0], ast.For | ast.AsyncFor):
        return [_main_verb(extraction) or verb or "handle", *_noun(loops[0].iter)]
    return []


def _main_verb(extraction: Extraction) -> str:
    for node in own_nodes(extraction.block.statements):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute | ast.Name):
            words = split(node.func.attr if isinstance(node.func, ast.Attribute) else node.func.id)
            if words and words[0] in VERBS:
                return "add" if words[0] in COLLECTING else words[0]
    return ""


def _subject(extraction: Extraction) -> list[str]:
    """What the first decision of the block is about."""
    for statement in extraction.block.statements:
        if isinstance(statement, ast.If | ast.While) and (words := _asked(statement)):
            return words
        if isinstance(statement, ast.For | ast.AsyncFor) and (words := _noun(statement.iter)):
            return words
        if isinstance(statement, ast.Match) and (words := _noun(statement.subject)):
            return words
    return []


def _asked(statement: ast.If | ast.While) -> list[str]:
    """What is asked about: the case if there is one, otherwise the thing whose cases are told apart."""
    test = statement.test
    if isinstance(statement, ast.If) and statement.orelse and isinstance(test, ast.Compare):
        return _noun(test.left)
    return [word for word in case_words(test) if word != "missing"]


def split(name: str) -> list[str]:
    """Words of an identifier, in lower case."""
    spaced = re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", name)
    return [word.lower() for word in re.split(r"[^A-Za-z0-9]+", spaced) if word]
