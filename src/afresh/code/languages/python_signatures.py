"""Headers, assignments and documentation of Python as one line each, with the strings as they are written."""

import ast
import itertools
import re
import warnings
from collections.abc import Iterator, Sequence
from keyword import iskeyword

from afresh.code.languages.python_text import STRING_MARK, STRING_OR_COMMENT

MAX_ASSIGNMENT_CHARACTERS = 160
MAX_BRACKET_DEPTH = 50
"""Brackets within brackets in an assignment, of which the names are read."""
LOOSE_SPACE = re.compile(r"(?<=[(\[{]) |,? (?=\))| (?=[\]}])")
INNERMOST_BRACKETS = re.compile(r"\([^()\[\]{}]*\)|\[[^()\[\]{}]*\]|\{[^()\[\]{}]*\}")
ASSIGNMENT_SIGN = re.compile(r"(?<![=!<>:+\-*/%&|^@])=(?!=)")
KEYWORD_ARGUMENT = re.compile(r"\*\*|\w+ *=(?!=)")
BRACKET_OR_SPLIT = re.compile(r"[()\[\]{},:]")
DOCSTRING = re.compile(r"\s*[rRuU]?(\"\"\"|'''|\"|')([^\\]*)\1\s*", re.DOTALL)


def tidy_source(source: str) -> str:
    """On one line, without comments."""
    code, strings = _mask_strings(source)
    return _restore_strings(collapse_code_whitespace(code.replace("\\\n", " ")), strings)


def extract_header(source: str) -> str:
    """The header that a text begins with, up to its colon, on one line."""
    code, strings = _mask_strings(source)
    colon = next(_find_outside_brackets(code, ":"), len(code))
    return _restore_strings(collapse_code_whitespace(code[:colon].replace("\\\n", " ")), strings)


def list_base_classes(signature: str) -> tuple[str, ...]:
    """What a class extends, as written."""
    code, strings = _mask_strings(signature)
    inside = code.partition("(")[2].rpartition(")")[0]
    if not inside.strip():
        return ()
    cuts = [-1, *_find_outside_brackets(inside, ","), len(inside)]
    parts = [inside[begin + 1 : end].strip() for begin, end in itertools.pairwise(cuts)]
    left = iter(strings)
    return tuple(whole for part in parts if (whole := _restore_strings(part, left)) and not KEYWORD_ARGUMENT.match(part))


def list_bound_names(target: str) -> list[str]:
    """Names that are bound by the target of an assignment; a part that is no plain name binds none here."""
    bare = target.strip().strip("()[]")
    return [name for part in bare.split(",") if (name := part.strip()).isidentifier() and not iskeyword(name)]


def list_chained_names(rest: str) -> list[str]:
    """Names that are bound by what is behind the first `=` of a masked assignment: `a = b = 1`."""
    if "=" not in rest:
        return []
    for _ in range(MAX_BRACKET_DEPTH):
        if not any(sign in rest for sign in "([{"):
            break
        rest = INNERMOST_BRACKETS.sub("", rest)
    targets = ASSIGNMENT_SIGN.split(rest)
    return [name for target in targets[:-1] if not target.strip().startswith("lambda") for name in list_bound_names(target)]


def extract_doc_line(source: str) -> str:
    """The first line of a documentation."""
    match = DOCSTRING.fullmatch(source)
    if match and match[1] not in match[2]:
        return match[2].strip().partition("\n")[0].expandtabs().strip()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            value = ast.literal_eval(source.strip())
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ""
    return value.strip().partition("\n")[0].expandtabs().strip() if isinstance(value, str) else ""


def collapse_code_whitespace(code: str) -> str:
    code = code.strip() if "  " not in code and "\n" not in code else " ".join(code.split())
    return LOOSE_SPACE.sub("", code) if "( " in code or " )" in code or "[ " in code or "{ " in code else code


def truncate_assignment(text: str) -> str:
    return text if len(text) <= MAX_ASSIGNMENT_CHARACTERS else text[: MAX_ASSIGNMENT_CHARACTERS - 1] + "…"


def _find_outside_brackets(code: str, sign: str) -> Iterator[int]:
    depth = 0
    for match in BRACKET_OR_SPLIT.finditer(code):
        if match[0] == sign and not depth:
            yield match.start()
        depth += (match[0] in "([{") - (match[0] in ")]}")


def _mask_strings(source: str) -> tuple[str, Sequence[str]]:
    if not ('"' in source or "'" in source or "#" in source):
        return source, ()
    strings: list[str] = []
    code = STRING_OR_COMMENT.sub(lambda match: "" if match[0][0] == "#" else strings.append(match[0]) or STRING_MARK, source)
    return code, strings


def _restore_strings(code: str, strings: Sequence[str] | Iterator[str]) -> str:
    if STRING_MARK not in code:
        return code
    left = iter(strings)
    return re.sub(STRING_MARK, lambda _: next(left).replace("\\\n", "").replace("\n", "\\n"), code)
