"""Reads Java files and resolves their imports."""

import re
from collections.abc import Collection, Iterable, Iterator
from typing import TYPE_CHECKING

from afresh.code.languages import tree_sitter_reader
from afresh.code.languages.doc_comments import CommentStyle
from afresh.code.languages.registry import PackageIndex, build_package_index
from afresh.code.languages.symbol_extraction import CapturedNode, NamedDefinition
from afresh.core.symbol import FileReading, ImportedModule

if TYPE_CHECKING:
    from afresh.code.index.code_index import CodeIndex


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
COMMENT_STYLE = CommentStyle(re.compile(r"/\*\*(?!/)|///"), markup=True)
JAVA_COMMENT = re.compile(r"/\*.*?(?:\*/|\Z)|//[^\n]*", re.DOTALL)
IMPORT_STATEMENT = re.compile(r"import\s+(static\s+)?([\w.]+?)(?:\.(\*))?\s*;?\Z")
MAIN_METHOD = re.compile(r"\bstatic\b.*\bvoid main\(")


def read_source(path: str, text: str) -> FileReading:
    return tree_sitter_reader.read_with_grammar(GRAMMAR, text)


def _name_definition(definition: CapturedNode) -> NamedDefinition | None:
    named = definition.field("name")
    return (
        NamedDefinition(named, bases=_bases(definition) if definition.role in ("class", "interface") else ()) if named else None
    )


def _bases(definition: CapturedNode) -> tuple[str, ...]:
    """Return what it extends and implements, without type arguments and annotations."""
    found: list[str] = []
    for part in definition.node.named_children:
        if part.type == "superclass":
            found += [definition.text(named_child) for named_child in part.named_children]
        elif part.type in ("super_interfaces", "extends_interfaces"):
            found += [definition.text(named_child) for listed in part.named_children for named_child in listed.named_children]
    return tuple(re.sub(r"@\S+\s+", "", one).partition("<")[0] for one in found)


def _read_imports(definition: CapturedNode) -> Iterator[ImportedModule]:
    """Yield imports. The module is the package, or the class for static members; a class is a name in it."""
    text = definition.text(definition.node)
    if "/" in text:
        text = JAVA_COMMENT.sub("", text)
    text = " ".join(text.split())
    match = IMPORT_STATEMENT.match(text.replace(" .", ".").replace(". ", "."))
    if match is None:
        return
    module, last = (match[2], "*") if match[3] else match[2].rpartition(".")[::2]
    yield ImportedModule(module or last, definition.line, ((last, last),) if module else ())


def _entry_point(reading: FileReading, text: str, captures: Collection[str]) -> str:
    main = any(symbol.short == "main" and MAIN_METHOD.search(symbol.signature) for symbol in reading.symbols)
    return "static void main" if main else ""


GRAMMAR = tree_sitter_reader.Grammar(
    "java", "Java", "tree_sitter_java", QUERY, COMMENT_STYLE, _name_definition, _read_imports, _entry_point
)


def index_modules(code: "CodeIndex") -> PackageIndex:
    readings = code.readings(path for path in code.files if path.endswith(".java"))
    return build_package_index(readings, lambda path: readings[path].packages or ("",))


def resolve_import(imported: ImportedModule, path: str, modules: PackageIndex) -> Iterable[str]:
    """Return the files of a class, of a nested class or of a member; for a whole package, the files whose names are used."""
    names = [name for name, _ in imported.names]
    if names == ["*"] and imported.module in modules.files:
        return modules.used(imported.module, path)
    full = ".".join([imported.module, *(name for name in names if name != "*")])
    package, _, kind = full.rpartition(".")
    while package:
        if found := modules.files.get(package, {}).get(kind):
            return found
        package, _, kind = package.rpartition(".")
    return ()


def find_package_uses(path: str, modules: PackageIndex) -> Iterable[str]:
    """Return the files of its own package whose classes it uses; Java needs no import for them."""
    return {one for package in modules.readings[path].packages or ("",) for one in modules.used(package, path)}
