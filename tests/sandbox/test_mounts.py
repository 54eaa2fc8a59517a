"""What may be mounted where."""

import os
import tempfile
from pathlib import Path

import pytest

from afresh.errors import BadInput
from afresh.sandbox.mounts import Mounts


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


@pytest.mark.parametrize("level", ["bubblewrap", "landlock"])
def test_a_mount_point_turned_into_a_link_is_refused(make_place, level: str) -> None:
    place = make_place(level, environments=("front/node_modules",))
    (place.at / "front/node_modules").mkdir(parents=True)
    turned = place.sandbox.run("ls front/node_modules && mv front back && ln -s ../../../../../../oldroot/tmp front", 600)
    assert turned.exit and turned.spoiled and "replaced or shut front" in turned.output
    with pytest.raises(BadInput, match="not a folder of its own"):
        place.sandbox.run("true", 600)


@pytest.mark.parametrize("forged", ["ln -s {outside} front", "mkdir -p front/node_modules; chmod 0 front/node_modules front ."])
def test_putting_back_what_a_command_has_moved_touches_nothing_else(make_place, tmp_path: Path, forged: str) -> None:
    place = make_place("landlock", environments=("front/node_modules",))
    for folder in (place.at / "front/node_modules", tmp_path / "outside/node_modules"):
        folder.mkdir(parents=True)
        (folder / "mine").touch()
    done = place.sandbox.run(f"mv front back && {forged.format(outside=tmp_path / 'outside')}", 600)
    assert done.exit and "replaced front/node_modules" in done.output
    assert (tmp_path / "outside/node_modules/mine").exists() and (place.at / "front/node_modules/mine").exists()
    assert not os.path.lexists(place.tree / "back/node_modules")


@pytest.mark.parametrize("level", ["bubblewrap", "landlock"])
def test_an_environment_that_leads_out_of_the_repository_is_refused(make_place, tmp_path: Path, level: str) -> None:
    place = make_place(level, environments=("node_modules",))
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


@pytest.mark.parametrize("level", ["bubblewrap", "landlock"])
def test_an_environment_behind_a_link_works_at_both_of_its_paths(make_place, tmp_path: Path, level: str) -> None:
    (tmp_path / "kept/bin").mkdir(parents=True)
    (tmp_path / "kept/pyvenv.cfg").write_text("home = /usr/bin\n")
    (tmp_path / "kept/bin/hello").write_text(f"#!/bin/sh\ncat {tmp_path}/kept/pyvenv.cfg\n")
    (tmp_path / "kept/bin/hello").chmod(0o755)
    place = make_place(level, environments=(".venv",))
    (place.at / ".venv").symlink_to(tmp_path / "kept")
    assert place.sandbox.run("hello; .venv/bin/hello", 600).output == "home = /usr/bin\n" * 2


@pytest.mark.parametrize("left", ["{at}/.venv", "{temporary}/afresh-killed/shown/.venv"])
@pytest.mark.parametrize("level", ["bubblewrap", "landlock"])
def test_a_link_that_a_killed_process_has_left_behind_is_replaced(make_place, level: str, left: str) -> None:
    place = make_place(level, environments=(".venv",))
    (place.at / ".venv").mkdir()
    (place.at / ".venv/pyvenv.cfg").write_text("mine")
    (place.tree / ".venv").symlink_to(left.format(at=place.at, temporary=tempfile.gettempdir()))
    assert place.sandbox.run("cat .venv/pyvenv.cfg", 600).output == "mine"
    assert not (place.tree / ".venv").is_symlink() and not list(place.tree.parent.glob(".aside-*"))
