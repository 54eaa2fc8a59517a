"""Where templates are kept: the project's, then the user's, then those that are shipped. A name is looked up, never followed."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from afresh.adapters.templates.fault import FileFault
from afresh.adapters.templates.read import MAX_YAML_BYTES, TemplateFile, parse_template_file
from afresh.adapters.templates.values import NAME_PATTERN

SHIPPED_FOLDER = Path(__file__).parents[2] / "templates"


@dataclass(frozen=True, slots=True)
class TemplateLayer:
    origin: str
    """project, user or shipped."""
    folder: Path
    only: str = ""
    """The one file that counts, when a single one is looked at."""
    root: Path | None = None
    """Where the files must really lie, and what their names are told relative to."""

    def names(self) -> Iterator[str]:
        """The file of every template, whether its name can be used or not."""
        found = sorted(path.name for path in self.folder.glob("*.y*ml")) if self.folder.is_dir() else []
        return (name for name in found if not self.only or name == self.only)

    def shown(self, file: str) -> str:
        path = self.folder / file
        return path.relative_to(self.root).as_posix() if self.root else str(path)

    def read(self, file: str) -> TemplateFile:
        name, shown = file.rpartition(".")[0], self.shown(file)
        if why := self.refused(file):
            return TemplateFile(name, self.origin, shown, faults=(FileFault(shown, 1, "", *why),))
        try:
            with (self.folder / file).open("rb") as opened:
                return parse_template_file(name, self.origin, shown, opened.read(MAX_YAML_BYTES + 1))
        except OSError as fault:
            return TemplateFile(name, self.origin, shown, faults=(FileFault(shown, 1, "", f"can't be read: {fault.strerror}"),))

    def refused(self, file: str) -> tuple[str, str] | None:
        path = self.folder / file
        if not NAME_PATTERN.fullmatch(file.rpartition(".")[0]) or path.suffix != ".yaml":
            return "is not looked at under this name", "use small letters, digits and _, and end it in .yaml"
        if not path.is_file():
            return "is not a regular file", "put the template itself there"
        inside = self.root is None or path.resolve().is_relative_to(self.root.resolve())
        if self.origin == "project" and (path.is_symlink() or not inside):
            return "is a link, which a repository may not use here", "put the template itself there"
        return None


@dataclass(frozen=True, slots=True)
class TemplateLayers:
    layers: tuple[TemplateLayer, ...]
    """Nearest first."""

    def find(self, name: str, depth: int = 0) -> tuple[int, TemplateFile] | None:
        """The nearest template of that name from the given layer on, and its layer."""
        if not NAME_PATTERN.fullmatch(name):
            return None
        for at, layer in enumerate(self.layers[depth:], depth):
            if f"{name}.yaml" in layer.names():
                return at, layer.read(f"{name}.yaml")
        return None

    def names(self) -> list[str]:
        files = {file.removesuffix(".yaml") for layer in self.layers for file in layer.names() if file.endswith(".yaml")}
        return sorted(name for name in files if NAME_PATTERN.fullmatch(name))


SHIPPED_LAYERS = TemplateLayers((TemplateLayer("shipped", SHIPPED_FOLDER, root=SHIPPED_FOLDER.parent),))


def layers_for_project(root: Path | None) -> TemplateLayers:
    """All that counts in a project; without one the user's and the shipped."""
    from platformdirs import user_config_path

    own = TemplateLayer("user", user_config_path("afresh") / "templates")
    project = (TemplateLayer("project", root / ".afresh" / "templates", root=root),) if root else ()
    return TemplateLayers((*project, own, *SHIPPED_LAYERS.layers))
