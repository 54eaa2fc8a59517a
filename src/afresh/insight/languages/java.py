"""What a Java file says of itself."""

import re
from collections.abc import Collection, Iterator

from afresh.domain.code import Import, Reading
from afresh.insight.languages import grammar
from afresh.insight.languages.comments import Style
from afresh.insight.languages.java_imports import beside, modules, targets
from afresh.insight.languages.nesting import Definition, Named

__all__ = ["beside", "modules", "read", "targets"]

QUERY = """
[(identifier) (type_identifier)] @mention
[(line_comment) (block_comment)] @comment
(ERROR) @error
[(annotation) (marker_annotation)] @before
(package_declaration [(scoped_identifier) (identifier)] @package)
(import_declaration) @import
[(class_declaration) (enum_declaration) (record_declaration)] @class
[(interface_declaration) (annotation_type_declaration)] @interface
[(method_declaration) (constructor_declaration) (compact_constructor_declaration) (annotation_type_element_declaration)] @method
(field_declaration declarator: (variable_declarator) @constant) @outer
(constant_declaration declarator: (variable_declarator) @constant) @outer
(enum_constant) @constant
"""
STYLE = Style(doc=re.compile(r"/\*\*(?!/)|///"), whole=re.compile(r"/\*\*(?!/)"), markup=True)
COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
IMPORT = re.compile(r"import\s+(static\s+)?([\w.]+?)(?:\.(\*))?\s*;?\Z")
MAIN = re.compile(r"\bstatic\b.*\bvoid main\(")


def read(path: str, text: str) -> Reading:
    return grammar.read(GRAMMAR, text)


def _name(definition: Definition) -> Named | None:
    named = definition.field("name")
    return Named(named, bases=_bases(definition) if definition.role in ("class", "interface") else ()) if named else None


def _bases(definition: Definition) -> tuple[str, ...]:
    """What it extends and implements, without type arguments and annotations."""
    found: list[str] = []
    for part in definition.node.named_children:
        if part.type == "superclass":
            found += [definition.text(one) for one in part.named_children]
        elif part.type in ("super_interfaces", "extends_interfaces"):
            found += [definition.text(one) for listed in part.named_children for one in listed.named_children]
    return tuple(re.sub(r"@\S+\s+", "", one).partition("<")[0] for one in found)


def _imports(definition: Definition) -> Iterator[Import]:
    """The module is the package, or the class of static members; a class is a name in it."""
    text = definition.text(definition.node)
    if "/" in text:
        text = COMMENT.sub("", text)
    text = " ".join(text.split())
    found = IMPORT.match(text.replace(" .", ".").replace(". ", "."))
    if found is None:
        return
    module, last = (found[2], "*") if found[3] else found[2].rpartition(".")[::2]
    yield Import(module or last, definition.line, ((last, last),) if module else ())


def _entry(reading: Reading, text: str, captures: Collection[str]) -> str:
    main = any(symbol.short == "main" and MAIN.search(symbol.signature) for symbol in reading.symbols)
    return "static void main" if main else ""


GRAMMAR = grammar.Grammar("java", "Java", "tree_sitter_java", QUERY, STYLE, _name, _imports, _entry)
