"""The words that code uses itself: of identifiers, expressions, conditions and comments."""

import ast
import re
from functools import lru_cache

VERBS = frozenset(
    """
    add adjust advance align append apply assemble assert assign attach bind build cache calculate call check choose clean
    clear close collapse collect combine compare compile compute configure consume convert copy count create cut decode
    define delete deprecate describe detect determine discard display draw drop dump emit encode enforce ensure enter escape
    evaluate exit expand explain extend extract fetch fill filter find finalize fix flatten flush fold format gather
    generate get guess handle hide highlight import indent infer inherit init inject insert invoke iterate join keep limit list
    load locate log look lookup make map mark match measure merge mix move multiply normalize notify open order pad parse
    patch pick place pop populate prefix prepend preserve print process propagate prune push put quote raise read rebuild record
    reduce reformat register reject remove rename render reorder repair replace report reset resolve restore return reverse
    rewrite round run sanitize save scan search select send serialize set shift show shrink skip slice sort split start
    stop store stringify strip substitute suggest sum swap switch sync take test tokenize track transform translate traverse
    trim truncate try tune unescape unpack unwrap update upgrade use validate verify visit walk warn wrap write yield
    """.split()  # noqa: SIM905
)
WEAK_WORDS = frozenset(
    """
    a an arg args attr b c cd ch char cls cur d data done e el elem elt entry f flag fn found func get i idx index item items j k
    key kw kwargs l left m n name names new node num o obj object old one other out output p pair part parts pos
    q r ready ref res rest result results ret retval right rv s seen self state string success t tag temp thing
    this tmp token tokens two type u v val value values vals var w x y z
    """.split()  # noqa: SIM905
)
"""Words that name almost anything: alone they name nothing."""
FILLER_WORDS = frozenset(
    """
    a an the this that these those we you it now then just here our any all also only for
    """.split()  # noqa: SIM905
)
OBJECT_END = re.compile(
    r"[.;:(–—!?\n,]| - | (?:after|against|as|at|because|before|but|by|from|if|in|into|is|are|of|on|so|than|that|to|until|when"
    r"|where|which|while|with|without) "
)
"""Where the object of a comment's verb ends."""
TRANSPARENT_FUNCTIONS = frozenset(
    """
    bool bytes dict endswith enumerate filter float format getattr int isalnum isalpha isdigit isspace issubset items iter join
    keys len list lower lstrip map max min partition repr reversed round rstrip set sorted split splitlines startswith str
    strip sum tuple upper values zip
    """.split()  # noqa: SIM905
)
"""Functions that say nothing of what they are called with."""
FLAG_PREFIXES = ("is", "has", "can", "should", "was", "are", "use", "needs", "wants", "with")
MAX_NOUN_WORDS = 4


def split_identifier(name: str) -> list[str]:
    """Words of an identifier, in lower case."""
    spaced = re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", re.sub(r"([A-Z]+)([A-Z][a-z])", r"\1_\2", name))
    return [word.lower() for word in re.split(r"[^A-Za-z0-9]+", spaced) if word]


def is_specific_name(words: list[str]) -> bool:
    """Whether the words say which thing is meant."""
    return (
        bool(words)
        and any(word not in WEAK_WORDS and len(word) > 2 and word.isalpha() for word in words)
        and not words[-1].isdigit()
    )


def find_noun(node: ast.expr) -> list[str]:
    """What an expression is about."""
    match node:
        case ast.Constant(value=str(text)) if re.fullmatch(r"[A-Za-z][\w -]{1,20}", text):
            return split_identifier(text)[:3]
        case ast.Name(id=name) | ast.Attribute(attr=name):
            words = split_identifier(name)
            return words[len(words) > 1 and words[0] in FLAG_PREFIXES :][:MAX_NOUN_WORDS]
        case ast.Call():
            return _noun_of_call(node)
        case ast.Subscript(value=value, slice=index):
            return (find_noun(index) if isinstance(index, ast.Constant) else []) or find_noun(value)
        case (
            ast.NamedExpr(target=inner)
            | ast.Starred(value=inner)
            | ast.Await(value=inner)
            | ast.Tuple(elts=[inner, *_])
            | ast.BinOp(left=inner)
        ):
            return find_noun(inner)
        case _:
            return []


def _noun_of_call(call: ast.Call) -> list[str]:
    name = read_function_name(call)
    owner = call.func.value if isinstance(call.func, ast.Attribute) else None
    if name in ("isinstance", "issubclass") and len(call.args) == 2:
        return find_class_words(call.args[1])
    if name in ("hasattr", "getattr", "get", "pop", "setdefault") and call.args:
        asked = find_noun(call.args[-1 if name == "hasattr" else owner is None and len(call.args) > 1])
        return asked if is_specific_name(asked) else find_noun(owner or call.args[0])
    if name in TRANSPARENT_FUNCTIONS or name in ("any", "all", "callable"):
        inner = owner or (call.args[0] if call.args else None)
        return find_noun(inner) if inner is not None else []
    words = split_identifier(name)
    return words[words[0] in VERBS or words[0] in FLAG_PREFIXES :][:MAX_NOUN_WORDS] if len(words) > 1 else []


def find_class_words(node: ast.expr) -> list[str]:
    """The classes that `isinstance` is asked for, where there are few."""
    if isinstance(node, ast.Tuple):
        each = [find_class_words(one) for one in node.elts]
        return [word for words in each for word in ("or", *words)][1:] if len(each) == 2 and all(each) else (each or [[]])[0]
    if isinstance(node, ast.BinOp):
        return find_class_words(ast.Tuple([node.left, node.right]))
    return split_identifier(node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", ""))[:3]


def read_function_name(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")


def find_call_verb(call: ast.Call) -> str:
    words = split_identifier(read_function_name(call))
    return words[0] if words and words[0] in VERBS else ""


def find_case_words(test: ast.expr) -> list[str]:
    """The case that a condition asks for, in the words of its operands."""
    match test:
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            words = find_case_words(operand)
            return ["without", *words] if words and words[0] != "without" else []
        case ast.BoolOp():
            return next((words for value in test.values if is_specific_name(words := find_case_words(value))), [])
        case ast.Compare(left=left, ops=[ast.Is() | ast.Eq(), *_], comparators=[ast.Constant(value=None), *_]):
            return ["without", *find_noun(left)]
        case ast.Compare(left=left, ops=[ast.Eq() | ast.In() | ast.Is(), *_], comparators=[right, *_]):
            return words if is_specific_name(words := find_noun(right)) else find_noun(left)
        case ast.Compare(left=left, comparators=[right, *_]):
            return find_noun(left) if not isinstance(right, ast.Constant) or not isinstance(right.value, str) else []
        case _:
            return find_noun(test)


def find_comment_words(text: str) -> list[str]:
    """The beginning of a comment as a name: its verb with its object; empty if it has none."""
    said = OBJECT_END.split(text.strip().lower().replace("make sure", "ensure"))[0]
    words = [word.replace("-", "_") for word in said.replace("'s", "").replace("`", "").split() if word not in FILLER_WORDS]
    fits = 2 <= len(words) <= MAX_NOUN_WORDS and words[0] in VERBS
    return words if fits and all(re.fullmatch(r"[a-z][a-z0-9_]*", word) for word in words) else []


@lru_cache(maxsize=4096)
def collect_words(text: str) -> frozenset[str]:
    return frozenset(re.findall(r"\w+", text))
