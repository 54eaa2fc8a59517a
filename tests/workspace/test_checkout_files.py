"""The walk of a checkout, beside git's own list of it."""

import os
import subprocess
import time
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from afresh.errors import ModelMistake
from afresh.workspace.checkout_files import CheckoutFiles, list_checkout_files

NAMES = st.sampled_from(["a", "b.py", "c.log", "build", "src", "x y", "être"])
PATTERNS = st.sampled_from(
    ["*.log", "build/", "/src", "src/a", "!b.py", "!c.log", "*", "**/a", "src/**", "[a-b]*", "a/*", "!a/", "# c.log", "x\\ y",
     "?.py", "build", "[^a]"]
)  # fmt: skip


def write(root: Path, path: str, text: str = "x = 1\n") -> None:
    file = root / path
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    except (FileExistsError, NotADirectoryError, IsADirectoryError):
        pass  # a file stands where another path needs a folder


def listed_by_git(root: Path) -> list[str]:
    said = subprocess.run(
        ["git", "ls-files", "-z", "--others", "--exclude-standard"], cwd=root, capture_output=True, check=True, env=alone()
    )
    return sorted(os.fsdecode(name) for name in said.stdout.split(b"\0")[:-1])


def alone() -> dict[str, str]:
    return {"PATH": os.environ["PATH"], "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull, "HOME": "/nonexistent"}


@example(paths=["src/c.log"], rules={"": "src/**\n!c.log"})
@example(paths=["b.py/x y/a"], rules={"": "x\\ y\n!b.py"})
@example(paths=[], rules={"": "**/a\n!a/", "a/": "x\\\\ y"})
@given(
    st.lists(st.lists(NAMES, min_size=1, max_size=3).map("/".join), max_size=10),
    st.dictionaries(st.sampled_from(["", "src/", "a/"]), st.lists(PATTERNS, max_size=4).map("\n".join), max_size=3),
)
def test_what_git_ignores_is_left_out_and_all_else_is_there(tmp_path: Path, paths: list[str], rules: dict[str, str]):
    root = tmp_path / str(len(list(tmp_path.iterdir())))
    root.mkdir()
    subprocess.run(["git", "init", "-q"], cwd=root, check=True, env=alone())
    for path in paths:
        write(root, path)
    for folder, text in rules.items():
        write(root, f"{folder}.gitignore", text)
    assert list(list_checkout_files(root)) == listed_by_git(root)


def test_caches_excluded_names_and_other_repositories_are_left_out(tmp_path: Path):
    for path in ("a.py", "__pycache__/a.pyc", ".venv/x.py", "node_modules/x.js", "other/.git/HEAD", "other/b.py", "secret/c.py",
                 ".git/config", ".afresh/state/d.py", ".afresh/AGENT.md"):  # fmt: skip
        write(tmp_path, path)
    write(tmp_path, ".git/info/exclude", "secret/\n")
    assert list(list_checkout_files(tmp_path)) == [".afresh/AGENT.md", "a.py"]


def test_links_pipes_and_folders_that_are_closed_are_passed_over(tmp_path: Path):
    write(tmp_path, "a.py")
    write(tmp_path, "closed/b.py")
    (tmp_path / "link.py").symlink_to("a.py")
    (tmp_path / "loop").symlink_to(tmp_path)
    os.mkfifo(tmp_path / "pipe.py")
    (tmp_path / "closed").chmod(0)
    try:
        found = list(list_checkout_files(tmp_path))
    finally:
        (tmp_path / "closed").chmod(0o700)
    assert found in (["a.py"], ["a.py", "closed/b.py"])  # the second for one who may enter all


def test_a_mark_changes_with_the_file_and_one_just_written_is_never_believed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    write(tmp_path, "a.py")
    assert list_checkout_files(tmp_path) != list_checkout_files(tmp_path)
    now = time.time_ns()
    monkeypatch.setattr("afresh.workspace.checkout_files.time", SimpleNamespace(time_ns=lambda: now + 60_000_000_000))
    settled = list_checkout_files(tmp_path)
    assert settled == list_checkout_files(tmp_path)
    write(tmp_path, "a.py", "x = 2\n")
    assert settled != list_checkout_files(tmp_path)


@pytest.mark.parametrize(
    ("data", "text"),
    [
        ("# héllo\n".encode(), "# héllo\n"),
        ("# héllo\n".encode("latin-1"), "# héllo\n"),
        ("# “quoted”\n".encode("cp1252"), "# “quoted”\n"),
        ("# -*- coding: koi8-r -*-\n# привет\n".encode("koi8-r"), "# -*- coding: koi8-r -*-\n# привет\n"),
        ("x = 1\n".encode("utf-16"), "x = 1\n"),
        ("x = 1\n".encode("utf-8-sig"), "x = 1\n"),
        (b"# coding: no-such-thing\n\xe9\n", "# coding: no-such-thing\né\n"),
        (b"# coding: rot13\n\xe9\n", "# coding: rot13\né\n"),
        (b"a\r\nb\r\n", "a\nb\n"),
    ],
)
def test_text_in_any_encoding_is_read(tmp_path: Path, data: bytes, text: str):
    (tmp_path / "a.py").write_bytes(data)
    assert CheckoutFiles(tmp_path).read("a.py") == text


def test_what_is_no_text_of_the_checkout_is_refused(tmp_path: Path):
    (tmp_path / "a.py").write_bytes(b"\0\1")
    os.mkfifo(tmp_path / "pipe.py")
    (tmp_path / "large.py").write_bytes(b"x" * 2_000_001)
    (tmp_path / "link.py").symlink_to("/etc/passwd")
    for path in ("a.py", "pipe.py", "large.py", "link.py", "none.py", "../a.py", "/etc/passwd"):
        with pytest.raises(ModelMistake):
            CheckoutFiles(tmp_path).read(path)
    with pytest.raises(ModelMistake):
        CheckoutFiles(tmp_path).write("b.py", "")
    assert not (tmp_path / "b.py").exists()
