"""For files whose tests begin with the same story: it is lived once, then the person's folder is put back as it was."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from person import Person


@pytest.fixture(scope="module")
def one_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same for all tests of a file: a task knows the place where it was worked on."""
    return tmp_path_factory.mktemp("lived")


@pytest.fixture
def tmp_path(one_folder: Path) -> Path:
    shutil.rmtree(one_folder)
    one_folder.mkdir()
    return one_folder


def live_once(person: Person, live: Callable[[], object]) -> str:
    """Return the newest task after the story."""
    kept = person.folder.with_name(f"{person.folder.name}-kept")
    if kept.exists():
        shutil.rmtree(person.folder)
        shutil.copytree(kept, person.folder, symlinks=True)
    else:
        live()
        shutil.copytree(person.folder, kept, symlinks=True)
    return person.shown()["task"]["id"]
