"""What is known of a project, coarse enough to stay as it is while the code's shape does."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ProjectLayout:
    name: str = ""
    about: str = ""
    languages: tuple[str, ...] = ()
    """As `Python 9/10`, the largest first."""
    main: str = ""
    files: str = ""
    roots: tuple[str, ...] = ()
    """Folders of the code that is shipped."""
    tests: tuple[str, ...] = ()
    mirrored: bool = False
    """Tests lie in folders named as those of the code that they test."""
    beside: tuple[str, ...] = ()
    """Docs, scripts, examples and the like."""
    entries: tuple[str, ...] = ()
    shared: tuple[str, ...] = ()
    """Files of tests for their common use: conftest.py."""
    papers: tuple[str, ...] = ()
    """Changelog, rules for contributors, decisions."""
    unread: tuple[str, ...] = ()
    """Languages that no one here understands the code of."""


@dataclass(frozen=True, slots=True)
class LibraryUse:
    central: tuple[str, ...] = ()
    used: tuple[str, ...] = ()
    testing: tuple[str, ...] = ()
    declared: tuple[str, ...] = ()
    """By a manifest; whether it is used is not known."""


@dataclass(frozen=True, slots=True)
class CodeStyle:
    naming: tuple[str, ...] = ()
    documented: str = ""
    typed: str = ""
    written: tuple[str, ...] = ()
    """Quotes, indentation, length of lines."""
    imports: tuple[str, ...] = ()
    errors: tuple[str, ...] = ()
    habits: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CodeZones:
    layers: tuple[tuple[str, ...], ...] = ()
    """Whoever stands before imports those after; within a layer nobody imports another."""
    cycles: tuple[tuple[str, ...], ...] = ()
    hubs: tuple[str, ...] = ()
    """Imported by most others."""
    more: str = ""


@dataclass(frozen=True, slots=True)
class ProjectConstraints:
    versions: tuple[str, ...] = ()
    linters: tuple[str, ...] = ()
    """Each with the rules that are set for it."""
    limits: tuple[str, ...] = ()
    hooks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ProjectTraits:
    layout: ProjectLayout = ProjectLayout()
    libraries: LibraryUse = LibraryUse()
    style: CodeStyle = CodeStyle()
    zones: CodeZones = CodeZones()
    constraints: ProjectConstraints = ProjectConstraints()
    testing: tuple[str, ...] = ()
    """How tests are written."""
    hot: tuple[str, ...] = ()
    """Files that change often and are intricate."""
    public: tuple[str, ...] = ()
    """Files whose names others rely on: packages' own, entry points, descriptions of interfaces."""
