"""Reads C# files. Namespaces are treated as packages and are not part of symbol names."""

import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from afresh.code.languages import tree_sitter_reader
from afresh.code.languages.doc_comments import CommentStyle
from afresh.code.languages.registry import PackageIndex, build_package_index
from afresh.code.languages.symbol_extraction import CapturedNode, NamedDefinition
from afresh.core.symbol import FileReading, ImportedModule, Symbol

if TYPE_CHECKING:
    from tree_sitter import Node

    from afresh.code.index.code_index import CodeIndex


QUERY = """
(identifier) @mention
(comment) @comment
(ERROR) @error
(attribute_list) @before
[(namespace_declaration name: (_) @package) (file_scoped_namespace_declaration name: (_) @package)]
(using_directive) @import
[(class_declaration) (struct_declaration) (record_declaration) (enum_declaration)] @class
(interface_declaration) @interface
[(method_declaration) (constructor_declaration) (destructor_declaration) (indexer_declaration)] @method
(local_function_statement) @function
(delegate_declaration) @constant
[(property_declaration) (event_declaration) (enum_member_declaration)] @constant
(field_declaration (variable_declaration (variable_declarator) @constant)) @outer
(event_field_declaration (variable_declaration (variable_declarator) @constant)) @outer
(global_statement) @statement
"""
COMMENT_STYLE = CommentStyle(re.compile(r"///|/\*\*(?!/)"), markup=True)
USING_DIRECTIVE = re.compile(r"(?:global )?using (?:unsafe )?(static )?(?:(\w+) ?= ?)?(?:global::)?([\w.:]+)")
NAMESPACE_DECLARATION = re.compile(r"^[ \t]*namespace[ \t]+([\w.]+)", re.MULTILINE)
"""Used for files whose conditional compilation hides the declaration from the grammar."""
MAIN_METHOD = re.compile(r"\bstatic\b.*\bMain\(")


def read_source(path: str, text: str) -> FileReading:
    reading = tree_sitter_reader.read_with_grammar(GRAMMAR, text)
    if reading.packages or not reading.symbols:
        return reading
    return replace(reading, packages=tuple(dict.fromkeys(NAMESPACE_DECLARATION.findall(text))))


def _name_definition(definition: CapturedNode) -> NamedDefinition | None:
    node = definition.node
    if node.type == "indexer_declaration":
        return NamedDefinition("this[]", until=_accessors_end(node))
    named = definition.field("name")
    if not named:
        return None
    if node.type == "destructor_declaration":
        return NamedDefinition(f"~{named}")
    if node.type in ("property_declaration", "event_declaration"):
        return NamedDefinition(named, until=_accessors_end(node))
    return NamedDefinition(named, bases=_bases(definition) if definition.role in ("class", "interface") else ())


def _accessors_end(node: "Node") -> int:
    """Return the end of the signature: accessors without bodies belong to it, code does not."""
    accessors = node.child_by_field_name("accessors")
    if accessors is not None and all(named_child.child_by_field_name("body") is None for named_child in accessors.named_children):
        return accessors.end_byte
    value = node.child_by_field_name("value")
    if accessors is None and value is not None and value.type == "arrow_expression_clause":
        return value.start_byte
    return accessors.start_byte if accessors else 0


def _bases(definition: CapturedNode) -> tuple[str, ...]:
    listed = next((part for part in definition.node.named_children if part.type == "base_list"), None)
    if listed is None or definition.node.type == "enum_declaration":
        return ()
    written = [re.split(r"[<(]", definition.text(named_child), maxsplit=1)[0].strip() for named_child in listed.named_children]
    return tuple(one for one in written if re.fullmatch(r"[\w.:@]+", one))


def _read_imports(definition: CapturedNode) -> Iterator[ImportedModule]:
    text = " ".join(definition.text(definition.node).split())
    match = USING_DIRECTIVE.match(text)
    if match is None:
        return
    module = match[3].replace("::", ".")
    if match[1] or match[2]:
        module, _, last = module.rpartition(".")
        yield ImportedModule(
            module or last, definition.line, ((last, match[2] or "*"),) if module else (), "" if module else match[2] or ""
        )
    else:
        yield ImportedModule(module, definition.line)


def _entry_point(reading: FileReading, text: str, captures: Collection[str]) -> str:
    main = any(symbol.short == "Main" and MAIN_METHOD.search(symbol.signature) for symbol in reading.symbols)
    return "static void Main" if main else "top-level statements" if "statement" in captures else ""


GRAMMAR = tree_sitter_reader.Grammar(
    "c_sharp", "C#", "tree_sitter_c_sharp", QUERY, COMMENT_STYLE, _name_definition, _read_imports, _entry_point
)


def index_modules(code: "CodeIndex") -> PackageIndex:
    readings = code.readings(path for path in code.files if path.endswith(".cs"))
    return build_package_index(readings, lambda path: readings[path].packages or ("",), _is_visible)


def resolve_import(imported: ImportedModule, path: str, modules: PackageIndex) -> Iterable[str]:
    """Return the files of a namespace whose types or extension methods are used."""
    if not imported.names:
        return modules.used(imported.module, path)
    return {one for name, _ in imported.names for one in modules.files.get(imported.module, {}).get(name, ())}


def find_package_uses(path: str, modules: PackageIndex) -> Iterable[str]:
    """Return the files of its own and the enclosing namespaces whose types it uses; C# needs no `using` for them."""
    package_uses: set[str] = set()
    for package in modules.readings[path].packages or ("",):
        while package:
            package_uses |= modules.used(package, path)
            package = package.rpartition(".")[0]
        package_uses |= modules.used("", path)
    return package_uses


def _is_visible(path: str, symbol: Symbol) -> bool:
    return "." not in symbol.name or "(this " in symbol.signature
