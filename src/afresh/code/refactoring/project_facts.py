"""What a change to one file must know about the rest of the project."""

import ast
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

from afresh.code.config_files import ProjectConfiguration
from afresh.code.python_source import PythonFunction, PythonSource
from afresh.code.refactoring.call_stack import find_frame_sensitive_names
from afresh.code.refactoring.code_layout import read_code_layout
from afresh.code.refactoring.identifier_words import collect_words
from afresh.code.refactoring.inherited_names import ClassLookup

NO_CONFIGURATION = ProjectConfiguration((), {})


@dataclass(frozen=True, eq=False)
class ProjectFacts:
    texts: Mapping[str, str] = field(default_factory=dict[str, str])
    """The project's Python files by path."""
    configuration: ProjectConfiguration = NO_CONFIGURATION
    libraries: tuple[Path, ...] = ()
    """Folders with installed packages."""
    new_names: bool = True
    """Whether a change may add a function or a table under a name that the code does not have yet."""

    @cached_property
    def words(self) -> frozenset[str]:
        """Every word of the code: a new method with one of these names might override something."""
        return frozenset[str]().union(*map(collect_words, self.texts.values()))

    def is_free_method(self, source: PythonSource, owner: ast.ClassDef, name: str) -> bool:
        """Whether a new method of this name hides nothing: no other word of the project, no member of a base class."""
        return name not in self.words and not ClassLookup(self.texts, self.libraries).may_inherit(source.tree, owner, name)

    def find_frame_sensitive_names(self, source: PythonSource, function: PythonFunction) -> frozenset[str]:
        return find_frame_sensitive_names(source, function, {**self.texts, source.path: source.text})

    def lay_out(self, source: PythonSource) -> PythonSource:
        """Return the file with the layout that new lines must have."""
        return replace(source, layout=read_code_layout(self.configuration, source))


NO_PROJECT = ProjectFacts()
"""For a file on its own."""
