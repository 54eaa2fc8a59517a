"""What `init` asks: would Python import the packages of the tree from there? An editable install is in the sandbox contract."""

import os
import subprocess
from pathlib import Path

import pytest

from afresh.sandbox.import_origin import find_foreign_imports, list_top_level_packages
from support.sandbox_contract import install_editable, make_environments


@pytest.mark.parametrize("level", ["bubblewrap", "landlock"])
def test_a_copy_in_the_environment_is_named(make_place, level: str) -> None:
    place = make_place(level, environments=(".venv",))
    packages = make_environments(place)
    for folder in (packages / "shop", place.tree / "src/shop"):
        folder.mkdir(parents=True)
        (folder / "__init__.py").touch()
    found = find_foreign_imports(place.sandbox, ["shop", "no_such_package"])
    assert len(found) == 1 and "site-packages/shop/__init__.py, not from the task's tree" in found[0]
    (packages / "shop/__init__.py").unlink()
    (packages / "shop").rmdir()
    install_editable(packages, place.at / "src/shop", "path")
    assert find_foreign_imports(place.sandbox, ["shop", "no_such_package"]) == []


def test_the_checkout_is_what_would_be_tested_outside(make_place) -> None:
    place = make_place("none", environments=(".venv",))
    install_editable(make_environments(place), place.at / "src/shop", "path")
    (place.at / "src/shop").mkdir(parents=True)
    (place.at / "src/shop/__init__.py").touch()
    plain = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    asked = [place.at / ".venv/bin/python", "-c", "import shop; print(shop.__file__)"]
    run = subprocess.run(asked, cwd=place.tree, env=plain, capture_output=True, text=True)
    assert run.stdout.strip() == str(place.at / "src/shop/__init__.py")


def test_packages_are_found_in_both_layouts(tmp_path: Path) -> None:
    for name in ("src/inner", "outer", "tests", "docs", "not-a-name", "outer/deeper"):
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / "__init__.py").touch()
    (tmp_path / "folder").mkdir()
    assert list_top_level_packages(tmp_path) == ("inner", "outer")
