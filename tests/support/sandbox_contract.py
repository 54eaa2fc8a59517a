"""What every Sandbox must do: a command sees and may do the same at each level. Subclass it and give a `place` fixture; what
confines must prove that by attacks of its own."""

import contextlib
import os
import shlex
import sys
from pathlib import Path
from typing import Protocol

import pytest

from afresh.core.action import PLAIN_MANNER, RunManner
from afresh.errors import BadInput
from afresh.ports.workspace import Sandbox

ENVIRONMENTS = (".venv", "node_modules", "front/node_modules")
"""What the fixture names as the checkout's environments."""
FINDER = """
import importlib.util, sys

class Finder:
    @staticmethod
    def find_spec(name, path=None, target=None):
        if name == "shop":
            places = [{folder!r}]
            return importlib.util.spec_from_file_location(name, places[0] + "/__init__.py", submodule_search_locations=places)

def install():
    sys.meta_path.{how}
"""
"""As build backends make them for an editable install."""


class SandboxPlace(Protocol):
    """What the fixture `place` gives: a tree on the host, the checkout that it stands in for, and a sandbox made for both, with
    these environments."""

    @property
    def tree(self) -> Path: ...
    @property
    def at(self) -> Path: ...
    @property
    def sandbox(self) -> Sandbox: ...


def make_environments(place: SandboxPlace) -> Path:
    """Fill the environments of the checkout; returns the folder of Python's packages."""
    packages = place.at / ".venv/lib/python{}.{}/site-packages".format(*sys.version_info)
    for folder in (packages, place.at / ".venv/bin", place.at / "node_modules/left", place.at / "front/node_modules/right"):
        folder.mkdir(parents=True)
    python = Path(sys.executable).resolve()
    (place.at / ".venv/bin/python").symlink_to(python)
    (place.at / ".venv/pyvenv.cfg").write_text(f"home = {python.parent}\n")
    (place.at / ".venv/bin/tool").write_text(f"#!{place.at}/.venv/bin/python\nprint('real')\n")
    (place.at / ".venv/bin/tool").chmod(0o755)
    (place.at / "node_modules/left/index.js").write_text("left")
    (place.at / "front/node_modules/right/index.js").write_text("right")
    return packages


def install_editable(packages: Path, folder: Path, how: str) -> None:
    """Let an environment lead to a package in a folder of the checkout, in one of the ways of build backends."""
    if how == "path":
        (packages / "shop.pth").write_text(f"{folder.parent}\n")
        return
    (packages / "_shop_finder.py").write_text(FINDER.format(folder=str(folder), how=how))
    (packages / "shop.pth").write_text("import _shop_finder; _shop_finder.install()\n")


class SandboxContract:
    """Fixture `place` is to be given by the subclass."""

    def test_says_which_level_it_is(self, place: SandboxPlace) -> None:
        assert place.sandbox.level in ("bubblewrap", "landlock", "none")

    def test_runs_in_the_tree(self, place: SandboxPlace) -> None:
        (place.tree / "a.txt").write_text("here")
        done = place.sandbox.run("cat a.txt", 600)
        assert (done.exit, done.output, done.timed_out, done.command) == (0, "here", False, "cat a.txt")

    def test_what_it_writes_in_the_tree_stays_and_is_the_users(self, place: SandboxPlace) -> None:
        assert place.sandbox.run("mkdir -p sub && echo new > sub/b.txt", 600).exit == 0
        assert (place.tree / "sub/b.txt").read_text() == "new\n"
        assert (place.tree / "sub/b.txt").stat().st_uid == os.getuid()

    def test_gives_the_exit_code(self, place: SandboxPlace) -> None:
        assert place.sandbox.run("exit 7", 600).exit == 7
        assert place.sandbox.run("kill -9 $$", 600).exit == 137
        assert place.sandbox.run("no-such-program-anywhere", 600).exit == 127

    def test_stdout_and_stderr_come_in_order(self, place: SandboxPlace) -> None:
        assert place.sandbox.run("echo 1; echo 2 >&2; echo 3; echo 4 >&2", 600).output == "1\n2\n3\n4\n"

    def test_stdin_is_empty(self, place: SandboxPlace) -> None:
        assert place.sandbox.run("cat; echo end", 600).output == "end\n"

    def test_output_that_is_no_text_is_kept_readable(self, place: SandboxPlace) -> None:
        assert place.sandbox.run(r"printf 'a\377b'", 600).output == "a\ufffdb"

    def test_quotes_and_newlines_in_a_command_are_the_shells(self, place: SandboxPlace) -> None:
        assert place.sandbox.run("x='a  \"b\"'\nprintf '%s' \"$x\"", 600).output == 'a  "b"'

    def test_a_time_out_keeps_what_was_printed(self, place: SandboxPlace) -> None:
        done = place.sandbox.run("echo before; sleep 60; echo after", 5)
        assert done.timed_out and done.exit != 0
        assert done.output.startswith("before\n") and "\nafter" not in done.output

    def test_a_command_does_not_wait_for_what_it_left_behind(self, place: SandboxPlace) -> None:
        done = place.sandbox.run("sleep 86399 & echo started", 600)
        assert not done.timed_out and done.output == "started\n"

    def test_has_none_of_the_callers_environment(self, place: SandboxPlace, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("OPENAI_API_KEY", "sk-not-to-be-seen")
        assert "sk-not-to-be-seen" not in place.sandbox.run("env; cat /proc/self/environ", 600).output

    def test_the_tree_has_the_same_name_wherever_it_lies(self, place: SandboxPlace) -> None:
        (place.tree / "sub").mkdir()
        (place.tree / "sub" / "fails.py").write_text("raise ValueError")
        printed = place.sandbox.run("pwd; echo $PWD/sub/x.py:3; echo $TMPDIR/y; python3 $PWD/sub/fails.py", 600).output
        assert printed.splitlines()[:2] == [". (the root of the project)", "sub/x.py:3"]
        assert 'File "sub/fails.py", line 1' in printed

    def test_a_path_that_it_prints_is_there_for_the_next_command(self, place: SandboxPlace) -> None:
        make_environments(place)
        (place.tree / "sub").mkdir()
        asked = "pwd; echo $PWD/sub; cd sub; pwd; command -v tool python; realpath ../.venv/bin/tool; echo $VIRTUAL_ENV"
        printed = place.sandbox.run(
            f"{asked}; echo $HOME; echo $TMPDIR; readlink -f ../node_modules/left", 600
        ).output.splitlines()
        assert len(printed) == 10 and ".venv/bin/tool" in printed and "node_modules/left" in printed
        for line in printed:
            shown = place.sandbox.run(f"ls -d {line.split()[0]}", 600)
            assert shown.exit == 0, shown.output

    def test_environments_of_the_checkout_are_in_the_tree(self, place: SandboxPlace) -> None:
        make_environments(place)
        done = place.sandbox.run(".venv/bin/tool; tool; .venv/bin/python -c 'print(1)'; cat node_modules/left/index.js", 600)
        assert (done.exit, done.output) == (0, "real\nreal\n1\nleft")
        assert place.sandbox.run("cd front && cat node_modules/*/index.js", 600).output == "right"

    def test_nothing_of_an_environment_stays_in_the_tree(self, place: SandboxPlace) -> None:
        make_environments(place)
        place.sandbox.run(".venv/bin/tool", 600)
        left = [path for path in place.tree.rglob("*") if path.is_symlink() or not path.is_dir()]
        assert left == [], "a snapshot would hold it"

    def test_what_the_tree_has_in_its_place_is_hidden_and_stays(self, place: SandboxPlace) -> None:
        make_environments(place)
        (place.tree / ".venv/bin").mkdir(parents=True)
        (place.tree / ".venv/bin/tool").write_text("#!/bin/sh\necho forged\n")
        (place.tree / ".venv/bin/tool").chmod(0o755)
        (place.tree / "node_modules").symlink_to(place.at)
        with pytest.raises(BadInput) if place.sandbox.level == "bubblewrap" else contextlib.nullcontext():
            place.sandbox.run("true", 600)
        (place.tree / "node_modules").unlink()
        assert place.sandbox.run(".venv/bin/tool", 600).output == "real\n"
        assert "forged" in (place.tree / ".venv/bin/tool").read_text()

    @pytest.mark.parametrize("back", ["", "; rm -rf .venv; mv kept .venv"])
    def test_a_command_that_replaces_an_environment_does_not_succeed(self, place: SandboxPlace, back: str) -> None:
        make_environments(place)
        forged = "mv .venv kept; mkdir -p .venv/bin; printf '#!/bin/sh\necho forged' > .venv/bin/tool; chmod +x .venv/bin/tool"
        done = place.sandbox.run(f"{{ {forged}; }} 2>/dev/null; .venv/bin/tool{back}; true", 600)
        assert "forged" not in done.output or (done.exit and "replaced .venv" in done.output)
        assert place.sandbox.run(".venv/bin/tool", 600).output == "real\n"

    @pytest.mark.parametrize(
        "deed",
        [
            "mv .venv .v2",
            "ln .venv .v2",
            "python3 -c \"import os; os.unlink('.venv'); os.mkdir('.venv'); os.chdir('.venv'); "
            "[(os.mkdir('dddddddddd'), os.chdir('dddddddddd')) for _ in range(1_500)]\"",
            "mv front f2; ln -s f2 front",
            "rm -rf front; echo x > front",
        ],
    )
    def test_what_replaces_an_environment_is_not_kept(self, place: SandboxPlace, deed: str) -> None:
        """A link in the tree, or one that has gone elsewhere in it, is in the way of the next command or in the commit."""
        make_environments(place)
        done = place.sandbox.run(deed, 600)
        left = [path for path in place.tree.rglob("*") if path.is_symlink() or (path.name == "front" and not path.is_dir())]
        assert done.spoiled or left == []
        for path in left:
            path.unlink()  # as the step is put back
        assert place.sandbox.run(".venv/bin/tool; cat front/node_modules/*/index.js", 600).output == "real\nright"

    def test_a_folder_with_an_environment_in_it_can_be_renamed(self, place: SandboxPlace) -> None:
        make_environments(place)
        done = place.sandbox.run("mkdir -p front; echo kept > front/file; mv front web", 600)
        assert not done.spoiled and (place.tree / "web/file").read_text() == "kept\n"
        assert not [path for path in place.tree.rglob("*") if path.is_symlink()]

    def test_caches_beside_packages_are_private_and_workspaces_are_those_of_the_tree(self, place: SandboxPlace) -> None:
        make_environments(place)
        (place.at / "node_modules/.vite").mkdir()
        (place.at / "node_modules/.vite/old").touch()
        (place.at / "node_modules/@own").mkdir()
        for folder, value in ((place.at, "checkout"), (place.tree, "tree")):
            (folder / "packages/a").mkdir(parents=True)
            (folder / "packages/a/index.js").write_text(value)
        (place.at / "node_modules/a").symlink_to("../packages/a")
        (place.at / "node_modules/@own/a").symlink_to("../../packages/a")
        done = place.sandbox.run(
            "cd node_modules; cat a/index.js @own/a/index.js left/index.js; ls .vite; echo x > .vite/new", 600
        )
        assert (done.exit, done.output) == (0, "treetreeleft")
        assert [path.name for path in (place.at / "node_modules/.vite").iterdir()] == ["old"]

    @pytest.mark.promise("Tests run on the task's copy")
    @pytest.mark.parametrize(
        ("how", "folder"), [("path", "packages/a/shop"), ("append(Finder)", "shop"), ("insert(0, Finder)", "src/shop")]
    )
    def test_an_editable_install_leads_to_the_tree(self, place: SandboxPlace, how: str, folder: str) -> None:
        install_editable(make_environments(place), place.at / folder, how)
        for root, value in ((place.at, "checkout"), (place.tree, "tree")):
            (root / folder / "deep").mkdir(parents=True)
            (root / folder / "__init__.py").write_text(f"VALUE = {value!r}\n")
            (root / folder / "deep/__init__.py").write_text(f"VALUE = {value!r}\n")
        code = "import shop, shop.deep; print(shop.VALUE, shop.deep.VALUE, shop.__file__)"
        inner = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {code!r}])"
        elsewhere = RunManner(elsewhere=True)
        for asked, reports, manner in (
            (code, False, PLAIN_MANNER), (code, True, PLAIN_MANNER), (inner, False, PLAIN_MANNER), (code, False, elsewhere)
        ):  # fmt: skip
            done = place.sandbox.run(f".venv/bin/python -c {shlex.quote(asked)}", 600, reports=reports, manner=manner)
            assert (done.exit, done.output) == (0, f"tree tree {folder}/__init__.py\n")

    def test_what_a_build_writes_is_the_trees_own_and_lasts(self, place: SandboxPlace) -> None:
        (place.at / "target").mkdir()
        (place.at / "target/old").write_text("checkout")
        done = place.sandbox.run("mkdir target && echo built > target/new", 600)
        assert done.exit == 0 and place.sandbox.run("cat target/*", 600).output == "built\n"
        assert [path.name for path in (place.at / "target").iterdir()] == ["old"]

    def test_home_and_temporary_files_are_private_and_gone_at_the_next_command(self, place: SandboxPlace) -> None:
        done = place.sandbox.run('cd "$HOME" && echo x > note && echo y > "$TMPDIR/note" && cat note "$TMPDIR/note"', 600)
        assert (done.exit, done.output) == (0, "x\ny\n")
        assert place.sandbox.run('ls -A "$HOME/note" "$TMPDIR/note" 2>/dev/null; ls -A "$HOME"', 600).output == ""

    def test_leaves_no_descriptor_open(self, place: SandboxPlace) -> None:
        place.sandbox.run("true", 600)
        before = len(os.listdir("/proc/self/fd"))
        for _ in range(3):
            place.sandbox.run("true", 600)
        assert len(os.listdir("/proc/self/fd")) == before
