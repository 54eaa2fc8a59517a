"""A level is believed only when every attempt has failed: each hole that is opened on purpose must be found."""

import importlib
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from afresh.errors import NoSandbox
from afresh.sandbox import bubblewrap as bubblewrap_module
from afresh.sandbox import landlock as landlock_module
from afresh.sandbox import seccomp
from afresh.sandbox.choose_level import choose_sandbox
from afresh.sandbox.mounts import Mounts

probing = importlib.import_module("afresh.sandbox.escape_probe")
SOURCE = Path(probing.__file__).parents[2]
NOBODY = 65534
ORDINARY = {
    "user": NOBODY,
    "group": NOBODY,
    "extra_groups": (),
    "cwd": "/",
    "env": {"PATH": "/usr/bin:/bin"},
    "capture_output": True,
}


def failed(level: str) -> set[str]:
    return {check.name for check in probing._attack_level.__wrapped__(level).checks if not check.ok}


def test_bubblewrap_holds_wherever_the_machine_lets_it() -> None:
    """A fault of ours must not pass as a machine without sandbox: then every other test here would be skipped."""
    program = bubblewrap_module.find_bubblewrap()
    bare = ["--unshare-user", "--unshare-all", "--disable-userns", "--ro-bind", "/", "/", "--proc", "/proc", "/bin/true"]
    if program is None or subprocess.run([program, *bare], capture_output=True).returncode:
        pytest.skip("bubblewrap itself can't be had here")
    assert probing.probe_level("bubblewrap").why_not == ""


def test_landlock_holds_wherever_the_machine_lets_it() -> None:
    if landlock_module.read_landlock_version() < 6 or seccomp.build_filter(namespaces=False) is None:
        pytest.skip("the kernel's Landlock is older than version 6, or there is none")
    assert probing.probe_level("landlock").why_not == ""


def test_nothing_holds_without_confinement() -> None:
    assert failed("none") >= {
        "read outside",
        "write outside",
        "environment of others",
        "tcp",
        "udp",
        "unix socket",
        "signal outside",
    }


@pytest.mark.parametrize(
    ("hole", "found"),
    [
        (("--share-net",), {"tcp", "udp", "abstract socket"}),
        (("--bind", "OUTSIDE", "OUTSIDE"), {"read outside", "write outside", "unix socket"}),
    ],
)
def test_a_hole_in_bubblewrap_is_found(
    requires_sandbox, hole: tuple[str, ...], found: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    requires_sandbox("bubblewrap")
    original = bubblewrap_module._system_mounts
    with tempfile.TemporaryDirectory(prefix="h", dir="/tmp") as outside:  # short: a socket's path has little room
        monkeypatch.setattr(tempfile, "tempdir", outside)
        opened = [outside if part == "OUTSIDE" else part for part in hole]
        monkeypatch.setattr(bubblewrap_module, "_system_mounts", lambda limits: [*original(limits), *opened])
        assert failed("bubblewrap") == found


def test_nested_namespaces_are_found(requires_sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    requires_sandbox("bubblewrap")
    isolation = tuple(part for part in bubblewrap_module._ISOLATION_OPTIONS if part != "--disable-userns")
    monkeypatch.setattr(bubblewrap_module, "_ISOLATION_OPTIONS", isolation)
    monkeypatch.setattr(bubblewrap_module, "build_filter", lambda **about: None)
    assert failed("bubblewrap") == {"user namespace"}


def test_processes_of_the_host_are_found(requires_sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    requires_sandbox("bubblewrap")
    isolation = [part for part in bubblewrap_module._ISOLATION_OPTIONS if part not in ("--unshare-all", "--disable-userns")]
    spaces = ["--unshare-ipc", "--unshare-net", "--unshare-uts"]
    monkeypatch.setattr(bubblewrap_module, "_ISOLATION_OPTIONS", tuple([*isolation, *spaces]))
    assert "signal outside" in failed("bubblewrap")


def test_a_landlock_without_the_filter_is_found(requires_sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    requires_sandbox("landlock")
    monkeypatch.setattr(landlock_module, "build_filter", lambda **about: b"\x06\0\0\0\0\0\xff\x7f")
    permitted = subprocess.run(["unshare", "--user", "true"], capture_output=True).returncode == 0
    namespace = {"user namespace"} if permitted else set[str]()
    assert {"udp", "unix socket", *namespace} <= failed("landlock"), "containers refuse a user namespace to everybody"


def test_a_landlock_with_too_wide_a_rule_is_found(requires_sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    requires_sandbox("landlock")
    monkeypatch.setattr(landlock_module, "_READABLE_SYSTEM_PATHS", ("/",))
    assert failed("landlock") == {"read outside"}


@pytest.fixture
def nothing_holds(monkeypatch: pytest.MonkeyPatch):
    """As on a machine without bubblewrap and of a kind that the filter does not know."""
    monkeypatch.setattr(bubblewrap_module, "find_bubblewrap", lambda: None)
    monkeypatch.setattr(landlock_module, "build_filter", lambda **about: None)
    probing._attack_level.cache_clear()
    yield
    probing._attack_level.cache_clear()


@pytest.mark.usefixtures("nothing_holds")
def test_where_nothing_holds_nothing_is_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AFRESH_NO_SANDBOX", "NO_SANDBOX", "AFRESH_SANDBOX", "AFRESH_ALLOW_NONE"):
        monkeypatch.setenv(name, "none")
    with pytest.raises(NoSandbox) as refusal:
        choose_sandbox(Mounts(tmp_path / "tree", tmp_path / "repository"))
    assert "bubblewrap is not installed" in refusal.value.what
    assert "--no-sandbox" in refusal.value.next


@pytest.mark.usefixtures("nothing_holds")
def test_only_the_caller_can_waive_the_sandbox(tmp_path: Path) -> None:
    assert choose_sandbox(Mounts(tmp_path / "tree", tmp_path / "repository"), allow_none=True).level == "none"


def test_the_strongest_that_holds_is_chosen_even_if_none_is_allowed(requires_sandbox, tmp_path: Path) -> None:
    requires_sandbox("bubblewrap")
    assert choose_sandbox(Mounts(tmp_path / "tree", tmp_path / "repository"), allow_none=True).level == "bubblewrap"


def test_landlock_is_chosen_where_bubblewrap_is_missing(
    requires_sandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    requires_sandbox("landlock")
    monkeypatch.setattr(bubblewrap_module, "find_bubblewrap", lambda: None)
    probing._attack_level.cache_clear()
    try:
        chosen = choose_sandbox(Mounts(tmp_path / "tree", tmp_path / "repository"))
        assert (chosen.level, chosen.mounted) == ("landlock", False)
    finally:
        probing._attack_level.cache_clear()


def test_what_held_is_remembered_until_the_machine_changes(
    requires_sandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    requires_sandbox("bubblewrap")
    cache, tried = tmp_path / "deep/probes", []
    original = probing._try_level
    monkeypatch.setattr(probing, "_try_level", lambda level: tried.append(level) or original(level))
    assert probing.probe_level("bubblewrap", cache).holds and probing.probe_level("bubblewrap", cache).holds
    assert tried == ["bubblewrap"]
    monkeypatch.setattr(os, "geteuid", lambda: 4242)
    probing.probe_level("bubblewrap", cache)
    assert tried == ["bubblewrap", "bubblewrap"]


def test_what_did_not_hold_is_tried_again(tmp_path: Path) -> None:
    assert not probing.probe_level("none", tmp_path / "probes").holds
    assert not (tmp_path / "probes").exists()


@pytest.mark.parametrize("level", ["bubblewrap", "landlock"])
def test_it_holds_for_an_ordinary_user_too(requires_sandbox, level: str) -> None:
    if os.geteuid():
        pytest.skip("the tests run as an ordinary user already")
    requires_sandbox(level)
    python = _python_for_all()
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(SOURCE / "afresh", Path(folder) / "afresh", ignore=shutil.ignore_patterns("__pycache__"))
        for path in (Path(folder), *Path(folder).rglob("*")):
            path.chmod(0o755)
        code = f"import sys; sys.path.insert(0, {folder!r})\n"
        code += f"from afresh.sandbox.escape_probe import probe_level; print(probe_level({level!r}).why_not)"
        run = subprocess.run([python, "-I", "-c", code], **ORDINARY)
    assert (run.stdout, run.stderr) == (b"\n", b"")


def _python_for_all() -> str:
    for name in (sys.executable, "/usr/bin/python3", "/usr/local/bin/python3"):
        enough = "import sys; sys.exit(sys.version_info < (3, 11))"
        try:
            if not subprocess.run(
                [name, "-c", enough], user=65534, group=65534, extra_groups=(), cwd="/", capture_output=True
            ).returncode:
                return name
        except OSError:
            continue
    pytest.skip("no Python 3.11 or newer that an ordinary user could run")
