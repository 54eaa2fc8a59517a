"""Templates of a project and of a user over what is shipped."""

from collections.abc import Callable
from pathlib import Path

import pytest

from afresh.config.templates.template_files import SHIPPED_LAYERS, TemplateLayer, TemplateLayers


@pytest.fixture
def shelf(tmp_path: Path) -> TemplateLayers:
    """Both folders empty."""
    for name in ("project/.afresh/templates", "user"):
        (tmp_path / name).mkdir(parents=True)
    project = TemplateLayer("project", tmp_path / "project/.afresh/templates", root=tmp_path / "project")
    return TemplateLayers((project, TemplateLayer("user", tmp_path / "user"), *SHIPPED_LAYERS.layers))


@pytest.fixture
def put(shelf: TemplateLayers) -> Callable[..., None]:
    """Write a template of the project or the user."""

    def write(name: str, text: str, origin: str = "project") -> None:
        folder = next(layer.folder for layer in shelf.layers if layer.origin == origin)
        (folder / f"{name}.yaml").write_text(text, "utf-8")

    return write
