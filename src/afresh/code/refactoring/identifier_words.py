"""Extracts words from code: from identifiers, expressions, conditions and comments."""

import ast
import re
from collections.abc import Iterable
from functools import lru_cache

VERBS = frozenset(
    """
    add adjust advance align append apply assemble assert assign attach bind build cache calculate call check choose clean
    clear close collapse collect combine compare compile compute configure consume convert copy count create cut decode
    define delete deprecate describe detect determine discard display draw drop dump emit encode enforce ensure enter escape
    evaluate exit expand explain extend extract fetch fill filter find finalize fix flatten flush fold format gather
    generate get guess handle hide highlight import increment indent infer inherit init initialize inject insert invoke
    iterate join keep limit list load locate log look lookup make map mark match measure merge mix move multiply normalize
    notify open order pad parse patch pick place pop populate prefix prepend preserve print process propagate prune push put
    quote raise read rebuild record reduce reformat register reject remove rename render reorder repair replace report reset
    resolve restore return reverse rewrite round run sanitize save scan search select send serialize set shift show shrink
    skip slice sort split start stop store stringify strip substitute suggest sum swap switch sync take test tokenize track
    transform translate traverse trim truncate try tune unescape unpack unwrap update upgrade use validate verify visit walk
    warn wrap write yield
    """.split()  # noqa: SIM905
)
VAGUE_VERBS = frozenset(
    """
    call check do enter get handle iterate list look make map process put run set start stop take test try use walk
    """.split()  # noqa: SIM905
)
"""Verbs that say little about what is done, or nothing without the rest of a sentence."""
WEAK_WORDS = frozenset(
    """
    a an arg args attr b c cd ch char cls cur d data done e el elem elt entry f flag fn found func get i idx index item items j k
    key kw kwargs l left m n name names new node num o obj object old one other out output p pair part parts pos
    q r ready ref res rest result results ret retval right rv s seen self state string success t tag temp thing
    this tmp token tokens two type u v val value values vals var w x y z
    """.split()  # noqa: SIM905
)
"""Words that could name almost anything and are not specific alone."""
FILLER_WORDS = frozenset(
    """
    a an the this that these those we you it now then just here our any all also only first itself
    """.split()  # noqa: SIM905
)
OBJECT_ENDING_WORDS = frozenset(
    """
    after against and are as at be because before but by during for from if in into is like of on once or per since so than that
    to unless until via when where which while who with without
    """.split()  # noqa: SIM905
)
"""Words at which the object of a comment's verb ends."""
LIMITING_WORDS = frozenset(
    """
    although aren't because but can't doesn't don't even except if isn't no not only otherwise unless when
    """.split()  # noqa: SIM905
)
"""A comment with one of these says under which condition; a name made of its beginning would leave that out."""
INCOMPLETE_BEFORE = ("and", "as", "like", "of", "or", "than")
"""An object that ends at one of these is not the whole object: `build a set of nodes`."""
SECOND_THING = re.compile(r"\b(?:also|afterwards|finally|then)\b", re.IGNORECASE)
"""A comment with one of these describes more than one thing."""
RELATIVE_WORDS = ("that", "which", "who", "whose", "where")
COMMENT_VERBS_WITHOUT_OBJECT = frozenset(
    """
    do enter handle iterate keep look process return start stop try use walk yield
    """.split()  # noqa: SIM905
)
"""Verbs that need more than an object, or say nothing."""
ADVERBS = frozenset("above again always away back below down further here it off out them there through up".split())  # noqa: SIM905
PREPOSITIONS = ("to", "from", "for", "of", "in", "into", "with", "by", "on")
MAX_COMMENT_WORDS = 5
TRANSPARENT_FUNCTIONS = frozenset(
    """
    bool bytes callable dict endswith enumerate filter float format get getattr int isalnum isalpha isdigit isspace issubset items
    iter join keys len list lower lstrip map max min partition pop repr reversed round rstrip set sorted split splitlines
    startswith str strip sum tuple upper values zip
    """.split()  # noqa: SIM905
)
"""Functions that say nothing about their arguments."""
PREDICATE_PREFIXES = ("is", "has", "can", "should", "was", "are")
NO_NAME_STARTS = ("todo", "fixme", "xxx", "type", "pragma", "noqa", "note", "no", "hack", "see", *PREDICATE_PREFIXES)
"""A comment that begins with one of these gives no name."""
FLAG_PREFIXES = (*PREDICATE_PREFIXES, "use", "needs", "wants", "with")


def split_identifier(name: str) -> list[str]:
    """Return the words of an identifier, in lower case."""
    spaced = re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", re.sub(r"([A-Z]+)([A-Z][a-z])", r"\1_\2", name))
    return [word.lower() for word in re.split(r"[^A-Za-z0-9]+", spaced) if word]


def is_specific_name(words: list[str]) -> bool:
    """Whether the words say which thing is meant."""
    return any(word not in WEAK_WORDS and len(word) > 2 and word.isalpha() for word in words) and not words[-1].isdigit()


def make_singular(words: list[str]) -> list[str]:
    if not words:
        return []
    last = words[-1]
    if last.endswith("ies") and len(last) > 4:
        last = last[:-3] + "y"
    elif last.endswith(("sses", "xes", "ches", "shes")):
        last = last[:-2]
    elif last.endswith("s") and not last.endswith(("ss", "us", "is")) and len(last) > 3:
        last = last[:-1]
    return [*words[:-1], last]


def find_noun(node: ast.expr) -> list[str]:
    """Return the words for what an expression is about."""
    match node:
        case ast.Constant(value=str(text)) if re.fullmatch(r"[A-Za-z][\w -]{1,20}", text):
            return split_identifier(text)[:3]
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return _drop_flag_prefix(split_identifier(name))
        case ast.Call():
            return _noun_of_call(node)
        case ast.Subscript(value=value, slice=index):
            return (find_noun(index) if isinstance(index, ast.Constant) else []) or find_noun(value)
        case ast.NamedExpr(target=inner) | ast.Starred(value=inner) | ast.Await(value=inner):
            return find_noun(inner)
        case ast.Tuple(elts=[inner, *_]) | ast.List(elts=[inner, *_]):
            return find_noun(inner)
        case ast.BinOp(left=left, right=right):
            return find_noun(left) or find_noun(right)
        case _:
            return []


def _drop_flag_prefix(words: list[str]) -> list[str]:
    """Return the words without a prefix such as `is`: `is_mapping` gives `mapping`."""
    return words[1:5] if len(words) > 1 and words[0] in FLAG_PREFIXES else words[:4]


def _noun_of_call(call: ast.Call) -> list[str]:
    name = read_function_name(call)
    if name in ("isinstance", "issubclass") and len(call.args) == 2:
        return find_class_words(call.args[1])
    if name in ("hasattr", "getattr") and len(call.args) > 1:
        return find_noun(call.args[1]) or find_noun(call.args[0])
    if name in ("get", "pop", "setdefault") and call.args and (words := find_noun(call.args[0])) and is_specific_name(words):
        return words
    if name in TRANSPARENT_FUNCTIONS:
        inner = call.func.value if isinstance(call.func, ast.Attribute) else call.args[0] if call.args else None
        return find_noun(inner) if inner is not None else []
    if asked := re.fullmatch(r"is([a-z]{4,})", name):
        return [asked[1]]
    words = split_identifier(name)
    telling = len(words) > 1 or name[:1].isupper()
    return _drop_flag_prefix(words)[words[0] in VERBS :] if telling else []


def find_class_words(node: ast.expr) -> list[str]:
    """Return the words of the classes in an `isinstance` check, if there are few."""
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


def find_tested_case(test: ast.expr) -> list[str]:
    """Return the words of the one case that a test asks for: a class or a constant; empty for other tests."""
    match test:
        case ast.BoolOp(op=ast.And(), values=[first, *_]):
            return find_tested_case(first)
        case ast.Call(func=ast.Name(id=("isinstance" | "issubclass")), args=[_, kind]):
            return find_class_words(kind)
        case ast.Compare(ops=[ast.Eq() | ast.Is()], comparators=[right]) if _is_constant(right):
            return find_noun(right)
        case _:
            return []


def _is_constant(node: ast.expr) -> bool:
    """Whether it is a literal or a name in capitals."""
    name = node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
    return (isinstance(node, ast.Constant) and isinstance(node.value, str)) or (name.isupper() and len(name) > 2)


def find_comment_words(text: str) -> list[str]:
    """Return a comment as a name if it is a verb with its object; empty if it is something else, or says more than a name can."""
    if SECOND_THING.search(text):
        return []
    text = re.split(r"[.;:(–—!?\n]| - |, ", text.strip())[0]
    words = [word.replace("-", "_") for word in text.lower().replace("'s", "").replace("`", "").split()]
    if not words or words[0] in NO_NAME_STARTS:
        return []
    if words[:2] == ["make", "sure"]:
        words = ["ensure", *words[2:]]
    unclear = words[0] not in VERBS or words[0] in COMMENT_VERBS_WITHOUT_OBJECT or set(words) & LIMITING_WORDS
    return [] if unclear else _verb_with_object(words)


def _verb_with_object(words: list[str]) -> list[str]:
    """Return verb, object and what it is done to, as far as they fit: `add defaults to options`."""
    relative = next((at for at, word in enumerate(words) if word in RELATIVE_WORDS), len(words))
    plain = [word for word in words[:relative] if word not in FILLER_WORDS]
    end = next((at for at, word in enumerate(plain) if word in OBJECT_ENDING_WORDS and at), len(plain))
    found = plain[:end]
    if len(plain) <= MAX_COMMENT_WORDS and plain[end : end + 1] and plain[end] in PREPOSITIONS and end < len(plain) - 1:
        found = plain
    elif plain[end : end + 1] and plain[end] in INCOMPLETE_BEFORE:
        return []
    fits = 2 <= len(found) <= MAX_COMMENT_WORDS and all(map(_is_word, found))
    return found if fits and is_specific_name(found[1:]) and found[1] not in ADVERBS else []


def _is_word(word: str) -> bool:
    return re.fullmatch(r"[a-z][a-z0-9_]*", word) is not None


@lru_cache(maxsize=4096)
def collect_words(text: str) -> frozenset[str]:
    return frozenset(re.findall(r"\w+", text))


INPUT_OUTPUT_CALLS = frozenset(
    {"connect", "dump", "input", "listdir", "load", "mkdir", "open", "print", "read", "read_bytes", "read_text", "readline",
     "readlines", "recv", "remove", "send", "unlink", "urlopen", "write", "write_bytes", "write_text", "writelines"}
)  # fmt: skip
CONVERTING_METHODS = frozenset({"decode", "dumps", "encode", "loads", "strftime", "strptime"})
CONVERTING_TYPES = frozenset({"bool", "bytes", "complex", "dict", "float", "int", "list", "set", "str", "tuple"})


def only_selects(nodes: Iterable[ast.AST], converting: frozenset[str] = frozenset()) -> bool:
    """Whether the piece neither raises nor reads or writes files nor converts: "choose" and "collect" promise that."""
    for node in nodes:
        if isinstance(node, ast.Raise | ast.Assert):
            return False
        if isinstance(node, ast.Call):
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            if name in INPUT_OUTPUT_CALLS | CONVERTING_METHODS | converting:
                return False
    return True
