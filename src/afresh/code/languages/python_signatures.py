"""Headers, assignments and documentation of Python as one line each, with the strings as they are written."""

import ast
import re
import warnings
from collections.abc import Iterator, Sequence
from keyword import iskeyword

from afresh.code.languages.python_mask import STRING_MARK, STRING_OR_COMMENT

MAX_ASSIGNMENT_CHARACTERS = 160
"""Characters of an assignment."""
LOOSE_SPACE = re.compile(r"(?<=[(\[{]) |,? (?=\))| (?=[\]}])")
INNERMOST_BRACKETS = re.compile(r"\([^()\[\]{}]*\)|\[[^()\[\]{}]*\]|\{[^()\[\]{}]*\}")
ASSIGNMENT_SIGN = re.compile(r"(?<![=!<>:+\-*/%&|^@])=(?!=)")
KEYWORD_ARGUMENT = re.compile(r"\*\*|\w+ *=(?!=)")
QUOTE_START = re.compile(r"[rRuU]?(\"\"\"|'''|\"|')")


def tidy_source(source: str) -> str:
    """On one line, without comments."""
    strings: list[str] = []
    code = STRING_OR_COMMENT.sub(lambda match: "" if match[0][0] == "#" else strings.append(match[0]) or STRING_MARK, source)
    return restore_strings(collapse_code_whitespace(code.replace("\\\n", " ")), iter(strings))


def collapse_code_whitespace(code: str) -> str:
    code = code.strip() if "  " not in code and "\n" not in code else " ".join(code.split())
    return LOOSE_SPACE.sub("", code) if "( " in code or " )" in code or "[ " in code or "{ " in code else code


def restore_strings(code: str, strings: Iterator[str]) -> str:
    return (
        re.sub(STRING_MARK, lambda _: next(strings).replace("\\\n", "").replace("\n", "\\n"), code)
        if STRING_MARK in code
        else code
    )


def extract_header(source: str) -> str:
    """The header that a text begins with, up to its colon, on one line."""
    strings: list[str] = []
    code = STRING_OR_COMMENT.sub(lambda match: "" if match[0][0] == "#" else strings.append(match[0]) or STRING_MARK, source)
    depth = 0
    for match in re.finditer(r"[()\[\]{}:]", code):
        if match[0] == ":" and not depth:
            code = code[: match.start()].replace("\\\n", " ")
            break
        depth += 1 if match[0] in "([{" else -1 if match[0] in ")]}" else 0
    return restore_strings(collapse_code_whitespace(code), iter(strings))


def list_base_classes(signature: str) -> tuple[str, ...]:
    """What a class extends, as written."""
    strings: list[str] = []
    quoted = '"' in signature or "'" in signature
    code = STRING_OR_COMMENT.sub(lambda match: strings.append(match[0]) or STRING_MARK, signature) if quoted else signature
    inside = code.partition("(")[2].rpartition(")")[0]
    if not inside.strip():
        return ()
    texts = iter(strings)
    parts = [(part.strip(), restore_strings(part.strip(), texts)) for part in split_outside_brackets(inside)]
    return tuple(whole for part, whole in parts if part and not KEYWORD_ARGUMENT.match(part))


def split_outside_brackets(code: str) -> list[str]:
    """At the commas that stand in no brackets."""
    if "(" not in code and "[" not in code and "{" not in code:
        return code.split(",")
    parts, depth, begin = list[str](), 0, 0
    for place, sign in enumerate(code):
        if sign in "([{":
            depth += 1
        elif sign in ")]}":
            depth -= 1
        elif sign == "," and not depth:
            parts.append(code[begin:place])
            begin = place + 1
    return [*parts, code[begin:]]


def is_interface(bases: Sequence[str]) -> bool:
    return any(base.partition("[")[0].rpartition(".")[2] == "Protocol" for base in bases)


def truncate_assignment(text: str) -> str:
    return text if len(text) <= MAX_ASSIGNMENT_CHARACTERS else text[: MAX_ASSIGNMENT_CHARACTERS - 1] + "…"


def list_bound_names(target: str) -> list[str]:
    """Names that are bound by the target of an assignment; a part that is no plain name binds none here."""
    bare = target.strip().strip("()[]")
    return [name for part in bare.split(",") if (name := part.strip()).isidentifier() and not iskeyword(name)]


def list_chained_names(rest: str) -> list[str]:
    """Names that are bound by what stands behind the first `=` of a masked assignment: `a = b = 1`."""
    if "=" not in rest:
        return []
    targets = ASSIGNMENT_SIGN.split(rest)
    if len(targets) > 1 and any(sign in rest for sign in "([{"):
        targets = ASSIGNMENT_SIGN.split(remove_brackets(rest))
    return [name for target in targets[:-1] if not target.strip().startswith("lambda") for name in list_bound_names(target)]


def remove_brackets(code: str) -> str:
    before = ""
    while before != code:
        before, code = code, INNERMOST_BRACKETS.sub("", code)
    return code


def extract_doc_line(lines: Sequence[str]) -> str:
    """Of a documentation, whose source lines these are."""
    found = QUOTE_START.match(lines[0].lstrip())
    if found is None:
        return ""
    inside = [lines[0].lstrip()[found.end() :], *lines[1:]]
    last = inside[-1].rstrip()
    if not last.endswith(found[1]) or (found[0][0] not in "rR" and "\\" in "".join(inside)):
        return evaluate_doc_line(lines)
    inside[-1] = last.removesuffix(found[1])
    return next((line.expandtabs().strip() for line in inside if line.strip()), "")


def evaluate_doc_line(lines: Sequence[str]) -> str:
    """The first line of a documentation of which the source does not show it as it is."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return str(ast.literal_eval("\n".join(lines).strip())).expandtabs().strip().partition("\n")[0].strip()
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ""
