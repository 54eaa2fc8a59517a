"""What may be mounted where."""

import os
from pathlib import Path

import pytest

from afresh.errors import BadInput
from afresh.sandbox.mounts import Mounts, link_packages, unlink_packages


@pytest.mark.parametrize("name", ["/etc", "../other", "a/../../b", ""])
def test_an_environment_outside_the_repository_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(BadInput):
        Mounts(tmp_path / "tree", tmp_path / "repository", environments=(name,))


@pytest.mark.parametrize("path", ["/", "/proc/1", "/run/user", "/dev", "relative", "/usr/../etc"])
def test_what_holds_too_much_can_t_be_made_readable(tmp_path: Path, path: str) -> None:
    with pytest.raises(BadInput):
        Mounts(tmp_path / "tree", tmp_path / "repository", readable=(Path(path),))


def test_the_home_folder_can_t_be_made_readable(tmp_path: Path) -> None:
    for home in (Path.home(), Path.home().parent):
        with pytest.raises(BadInput):
            Mounts(tmp_path / "tree", tmp_path / "repository", readable=(home,))


@pytest.mark.parametrize("name", [".git", ".afresh"])
def test_a_protected_name_that_is_a_link_is_refused(make_place, tmp_path: Path, name: str) -> None:
    place = make_place("bubblewrap")
    (tmp_path / "secret").mkdir()
    (place.tree / name).symlink_to(tmp_path / "secret")
    with pytest.raises(BadInput, match="symbolic link"):
        place.sandbox.run("true", 600)


def test_a_mount_point_turned_into_a_link_is_refused(make_place, tmp_path: Path) -> None:
    place = make_place("bubblewrap", environments=("front/node_modules",))
    (place.at / "front/node_modules").mkdir(parents=True)
    assert place.sandbox.run("ls front/node_modules && mv front back && ln -s ../../../../../../oldroot/tmp front", 600).exit == 0
    with pytest.raises(BadInput, match="not a folder of its own"):
        place.sandbox.run("true", 600)


def test_an_environment_that_leads_out_of_the_repository_is_refused(make_place, tmp_path: Path) -> None:
    place = make_place("bubblewrap", environments=("node_modules",))
    (tmp_path / "keys").mkdir()
    (place.at / "node_modules").symlink_to(tmp_path / "keys")
    with pytest.raises(BadInput, match="leads out"):
        place.sandbox.run("ls node_modules", 600)


@pytest.mark.parametrize("level", ["bubblewrap", "landlock"])
def test_environments_and_readable_paths_can_be_read_and_not_written(make_place, tmp_path: Path, level: str) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data/table").write_text("rows")
    place = make_place(level, environments=("node_modules", "gone"), readable=(tmp_path / "data",))
    (place.at / "node_modules").mkdir()
    (place.at / "node_modules/a.js").write_text("code")
    inside = place.at / "node_modules"
    done = place.sandbox.run(f"cat {tmp_path}/data/table {inside}/a.js; echo x > {tmp_path}/data/x; echo x > {inside}/x", 600)
    assert done.output.startswith("rowscode")
    assert os.listdir(tmp_path / "data") == ["table"] and os.listdir(inside) == ["a.js"]


def test_an_environment_behind_a_link_works_at_both_of_its_paths(make_place, tmp_path: Path) -> None:
    (tmp_path / "kept/bin").mkdir(parents=True)
    (tmp_path / "kept/pyvenv.cfg").write_text("home = /usr/bin\n")
    (tmp_path / "kept/bin/hello").write_text(f"#!/bin/sh\ncat {tmp_path}/kept/pyvenv.cfg\n")
    (tmp_path / "kept/bin/hello").chmod(0o755)
    place = make_place("bubblewrap", environments=(".venv",))
    (place.at / ".venv").symlink_to(tmp_path / "kept")
    assert place.sandbox.run("hello", 600).output == "home = /usr/bin\n"


def test_where_the_tree_is_not_mounted_it_leads_to_the_packages_of_the_checkout(tmp_path: Path) -> None:
    at, tree = tmp_path / "repository", tmp_path / "tree"
    for name in ("node_modules/left", "packages/a/node_modules", "gone/node_modules", ".venv"):
        (at / name).mkdir(parents=True)
    (tree / "packages/a").mkdir(parents=True)
    (tree / "node_modules").mkdir()  # as a sandbox with mounts leaves it
    mounts = Mounts(tree, at, ("node_modules", "packages/a/node_modules", "gone/node_modules", ".venv"))
    link_packages(mounts)
    link_packages(mounts)
    assert (tree / "node_modules/left").is_dir() and (tree / "packages/a/node_modules").is_symlink()
    assert not (tree / "gone").exists() and not (tree / ".venv").exists()
    unlink_packages(mounts)
    assert not (tree / "node_modules").exists() and (at / "node_modules/left").is_dir()


def test_packages_that_a_command_has_put_into_the_tree_stay(tmp_path: Path) -> None:
    (tmp_path / "repository/node_modules").mkdir(parents=True)
    (tmp_path / "tree/node_modules/own").mkdir(parents=True)
    mounts = Mounts(tmp_path / "tree", tmp_path / "repository", ("node_modules",))
    link_packages(mounts)
    unlink_packages(mounts)
    assert (tmp_path / "tree/node_modules/own").is_dir()
