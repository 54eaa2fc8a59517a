"""A worktree has no environment of its own, and an editable install points at the user's checkout: whose code is tested?"""

import subprocess
import sys
from pathlib import Path

import pytest

from afresh.errors import NeedsPerson
from afresh.sandbox.import_origin import find_foreign_imports, list_top_level_packages, require_own_tree

FINDER = """
import importlib.machinery, importlib.util, sys

class Finder:
    @staticmethod
    def find_spec(name, path=None, target=None):
        if name == "shop":
            places = [{folder!r}]
            return importlib.util.spec_from_file_location(name, {folder!r} + "/__init__.py", submodule_search_locations=places)

def install():
    sys.meta_path.{how}
"""


@pytest.fixture
def project(make_place):
    """A package with a test; the user's checkout says 1, the task's tree says 2."""

    def make(level: str, layout: str = "src"):
        place = make_place(level, environments=(".venv",))
        for folder, value in ((place.at, 1), (place.tree, 2)):
            (folder / layout / "shop").mkdir(parents=True)
            (folder / layout / "shop/__init__.py").write_text(f"VALUE = {value}\n")
            (folder / "tests").mkdir()
            (folder / "tests/check.py").write_text("import shop\nassert shop.VALUE == 2, shop.__file__\n")
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", place.at / ".venv"], check=True)
        return place

    return make


def site_packages(at: Path) -> Path:
    return next(at.glob(".venv/lib/python*/site-packages"))


def install_by_path(at: Path, layout: str) -> None:
    (site_packages(at) / "shop.pth").write_text(f"{at / layout}\n")


def install_by_finder(at: Path, layout: str, how: str = "append(Finder)") -> None:
    (site_packages(at) / "__editable___shop_finder.py").write_text(FINDER.format(folder=str(at / layout / "shop"), how=how))
    (site_packages(at) / "__editable__.shop.pth").write_text(
        "import __editable___shop_finder; __editable___shop_finder.install()\n"
    )


def install_a_copy(at: Path, layout: str) -> None:
    (site_packages(at) / "shop").mkdir()
    (site_packages(at) / "shop/__init__.py").write_text("VALUE = 1\n")


@pytest.mark.parametrize("level", ["bubblewrap", "landlock"])
@pytest.mark.parametrize("layout", ["src", "."])
@pytest.mark.parametrize("install", [install_by_path, install_by_finder])
def test_an_editable_install_leads_to_the_tasks_tree(project, level: str, layout: str, install) -> None:
    place = project(level, layout)
    install(place.at, layout)
    done = place.sandbox.run("python tests/check.py", 600)
    assert (done.exit, done.output) == (0, "")
    require_own_tree(place.sandbox, place.tree)


def test_the_checkout_is_what_would_be_tested_outside(project) -> None:
    place = project("bubblewrap")
    install_by_path(place.at, "src")
    run = subprocess.run([place.at / ".venv/bin/python", "tests/check.py"], cwd=place.tree, capture_output=True, text=True)
    assert str(place.at / "src/shop") in run.stderr


def test_without_mounts_an_install_that_goes_before_everything_is_refused(project) -> None:
    place = project("landlock")
    install_by_finder(place.at, "src", how="insert(0, Finder)")
    problems = find_foreign_imports(place.sandbox, ["shop"])
    assert len(problems) == 1 and str(place.at / "src/shop") in problems[0]
    with pytest.raises(NeedsPerson, match="not from the task's tree"):
        require_own_tree(place.sandbox, place.tree)


def test_a_copy_in_the_environment_is_refused_also_with_mounts(project) -> None:
    place = project("bubblewrap")
    install_a_copy(place.at, "src")
    with pytest.raises(NeedsPerson, match="site-packages"):
        require_own_tree(place.sandbox, place.tree)


def test_what_is_not_importable_is_no_problem(project) -> None:
    place = project("bubblewrap")
    assert find_foreign_imports(place.sandbox, ["shop", "no_such_package"]) == []


def test_packages_are_found_in_both_layouts(tmp_path: Path) -> None:
    for name in ("src/inner", "outer", "tests", "docs", "not-a-name", "outer/deeper"):
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / "__init__.py").touch()
    (tmp_path / "folder").mkdir()
    assert list_top_level_packages(tmp_path) == ("inner", "outer")
