"""Which folders of a PATH become readable."""

import os
import pwd
import shutil
import sys
from pathlib import Path

import pytest

from afresh.sandbox.bubblewrap import Bubblewrap, find_bubblewrap
from afresh.sandbox.command_environment import find_interpreter_folders, list_search_path, make_clean_environment
from afresh.sandbox.escape_probe import probe_level
from afresh.sandbox.mounts import Mounts
from afresh.sandbox.toolchain_folders import TOOLCHAIN_FOLDERS, list_home_links


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for level in ("bubblewrap", "landlock"):
        probe_level(level)  # kept for the process, so not with another home
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    for name in [folder.variable for folder in TOOLCHAIN_FOLDERS] + ["GOPATH", "GRADLE_USER_HOME"]:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(sys, "prefix", "/usr")
    monkeypatch.setattr(sys, "base_prefix", "/usr")
    return home


@pytest.fixture
def mounts(home: Path) -> Mounts:
    return Mounts(home / "project/.afresh/state/worktrees/t", home / "project")


def reached(monkeypatch: pytest.MonkeyPatch, mounts: Mounts, *folders: Path) -> set[Path]:
    for folder in folders:
        folder.mkdir(parents=True, exist_ok=True)
    monkeypatch.setenv("PATH", ":".join(map(str, folders)))
    return set(find_interpreter_folders(mounts))


def test_programs_of_the_home_folder_do_not_bring_the_home_folder(
    home: Path, mounts: Mounts, monkeypatch: pytest.MonkeyPatch
) -> None:
    (home / "lib/python3.11").mkdir(parents=True)
    (home / "lib/python3.11/os.py").touch()
    assert reached(monkeypatch, mounts, home / "bin", home / ".local/bin", home) == {home / "bin", home / ".local/bin"}


def test_credentials_beside_programs_stay_hidden(home: Path, mounts: Mounts, monkeypatch: pytest.MonkeyPatch) -> None:
    (home / ".cargo").mkdir()
    (home / ".cargo/credentials.toml").write_text("token")
    assert reached(monkeypatch, mounts, home / ".cargo/bin") == {home / ".cargo/bin"}


def test_a_python_comes_with_its_library(home: Path, mounts: Mounts, monkeypatch: pytest.MonkeyPatch) -> None:
    version = home / ".pyenv/versions/3.12"
    (version / "lib/python3.12").mkdir(parents=True)
    (version / "lib/python3.12/os.py").touch()
    assert reached(monkeypatch, mounts, version / "bin") == {version}


def test_a_virtual_environment_comes_with_the_python_it_is_made_from(
    home: Path, mounts: Mounts, monkeypatch: pytest.MonkeyPatch
) -> None:
    base, virtual = home / "pythons/3.12", home / "virtual"
    (base / "lib/python3.12").mkdir(parents=True)
    (base / "lib/python3.12/os.py").touch()
    (base / "bin").mkdir()
    (virtual / "bin").mkdir(parents=True)
    (virtual / "pyvenv.cfg").write_text(f"home = {base}/bin\n")
    assert reached(monkeypatch, mounts, virtual / "bin") == {base, virtual}


def test_shims_come_with_the_versions_they_lead_to(home: Path, mounts: Mounts, monkeypatch: pytest.MonkeyPatch) -> None:
    (home / ".pyenv/versions").mkdir(parents=True)
    assert reached(monkeypatch, mounts, home / ".pyenv/shims") == {home / ".pyenv"}


def test_the_checkout_itself_is_not_reached_through_an_activated_environment(
    home: Path, mounts: Mounts, monkeypatch: pytest.MonkeyPatch
) -> None:
    virtual = mounts.at / ".venv"
    (virtual / "bin").mkdir(parents=True)
    (virtual / "pyvenv.cfg").write_text("home = /usr/bin\n")
    assert reached(monkeypatch, mounts, virtual / "bin", mounts.at / "bin") == set()


def test_relative_folders_on_the_path_do_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", ".:bin::/usr/bin")
    assert list_search_path() == (Path("/usr/bin"),)


def test_a_folder_of_the_path_that_may_not_be_looked_at_is_left_out(monkeypatch: pytest.MonkeyPatch):
    """As for an ordinary user with a PATH of root's; even root may not look at a name that is too long."""
    monkeypatch.setenv("PATH", f"/{'x' * 300}:/usr/bin")
    assert list_search_path() == (Path("/usr/bin"),)


def test_toolchains_and_packages_of_rust_and_go_can_be_read_but_no_credentials(
    home: Path, mounts: Mounts, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown = [home / ".rustup", home / ".cargo/registry", home / "go/pkg/mod"]
    for folder in shown:
        folder.mkdir(parents=True)
    (home / ".cargo/credentials.toml").write_text("token")
    assert reached(monkeypatch, mounts, home / ".cargo/bin") == {*shown, home / ".cargo/bin"}
    variables = make_clean_environment(mounts)
    assert variables["RUSTUP_HOME"] == str(home / ".rustup") and variables["CARGO_HOME"] == str(home / ".cargo")
    assert variables["GOMODCACHE"] == str(home / "go/pkg/mod") and variables["HOME"] == "/tmp/home"


def test_a_toolchain_folder_that_would_show_the_home_folder_is_left_out(
    home: Path, mounts: Mounts, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RUSTUP_HOME", str(home))
    monkeypatch.setenv("GOMODCACHE", "relative")
    assert home not in reached(monkeypatch, mounts, home / "bin")


def test_caches_and_installs_of_other_languages_can_be_read_but_not_what_is_beside_them(
    home: Path, mounts: Mounts, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown = [home / name for name in (".m2/repository", ".gradle/caches", ".sdkman/candidates", ".yarn/berry", ".volta/tools")]
    for folder in (*shown, home / ".sdkman/etc", home / "work/go/pkg/mod", home / ".gradle/wrapper/dists/gradle-8/x/gradle-8"):
        folder.mkdir(parents=True)
    for secret in (".m2/settings.xml", ".gradle/gradle.properties", ".volta/credentials"):
        (home / secret).write_text("token")
    monkeypatch.setenv("GOPATH", str(home / "work/go"))
    found = reached(monkeypatch, mounts, home / "bin")
    assert {*shown, home / "work/go/pkg/mod"} <= found and not {home / ".m2", home / ".gradle", home / ".volta"} & found
    variables = make_clean_environment(mounts)
    assert variables["GOMODCACHE"] == str(home / "work/go/pkg/mod") and variables["GOPROXY"] == "off"
    assert str(home / ".m2/repository") in variables["MAVEN_OPTS"]
    assert variables["GRADLE_RO_DEP_CACHE"] == str(home / ".gradle/caches")
    links = {link.name: link.target for link in list_home_links()}
    assert links[".gradle/wrapper/dists/gradle-8/x/gradle-8"] == home / ".gradle/wrapper/dists/gradle-8/x/gradle-8"
    assert ".mavenrc" in links


@pytest.mark.parametrize("mark", ["lib/modules", "lib/rustlib", "pkg/tool", "lib/maven-core-3.9.jar", "lib/node_modules/npm"])
def test_an_installation_comes_with_its_library(home: Path, mounts: Mounts, monkeypatch: pytest.MonkeyPatch, mark: str) -> None:
    version = home / "opt/tool"
    (version / mark).parent.mkdir(parents=True)
    (version / mark).touch()
    assert version in reached(monkeypatch, mounts, version / "bin") or home / ".sdkman/candidates" in find_interpreter_folders(
        mounts
    )


def test_programs_of_node_modules_are_on_the_path(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (home / "project/node_modules/.bin").mkdir(parents=True)
    mounts = Mounts(home / "tree", home / "project", ("node_modules",))
    assert make_clean_environment(mounts)["PATH"].startswith(f"{home}/project/node_modules/.bin:")


@pytest.mark.parametrize("level", ["bubblewrap", "landlock"])
def test_links_of_the_home_folder_can_be_read_in_a_sandbox(make_place, home: Path, level: str) -> None:
    (home / ".tool-versions").write_text("nodejs 20.1.0\n")
    (home / ".m2/repository").mkdir(parents=True)
    ran = "cat ~/.tool-versions ~/.mavenrc && touch ~/.m2/new && ! echo x >> ~/.tool-versions"
    done = make_place(level).sandbox.run(ran, 600)
    assert done.exit == 0 and "nodejs 20.1.0" in done.output and "offline.xml" in done.output, done.output
    assert (home / ".tool-versions").read_text() == "nodejs 20.1.0\n"


@pytest.mark.skipif(shutil.which("go") is None, reason="needs go")
@pytest.mark.parametrize("level", ["bubblewrap", "landlock"])
def test_go_finds_downloaded_modules(make_place, home: Path, monkeypatch: pytest.MonkeyPatch, level: str) -> None:
    sums = "h1:sFeIoA4OIehOcikLj1Xb+v7DVDjF8PS6AHlT/zVdeQE="
    leaf, cache = home / "go/pkg/mod/example.com/leaf@v1.0.0", home / "go/pkg/mod/cache/download/example.com/leaf/@v"
    leaf.mkdir(parents=True)
    cache.mkdir(parents=True)
    for place in (leaf / "go.mod", cache / "v1.0.0.mod"):
        place.write_text("module example.com/leaf\n\ngo 1.19\n")
    (leaf / "leaf.go").write_text("package leaf\n\nconst One = 1\n")
    (cache / "v1.0.0.ziphash").write_text(sums)
    (cache / "v1.0.0.zip").touch()
    (cache / "v1.0.0.info").write_text('{"Version": "v1.0.0"}')
    place = make_place(level)
    (place.tree / "go.mod").write_text("module example.com/sums\n\ngo 1.19\n\nrequire example.com/leaf v1.0.0\n")
    summed = "example.com/leaf v1.0.0/go.mod h1:1MaTp9sHanA3qb9z/5k/UYuLLKsV++jc3n6qZdkBhuA=\n"
    (place.tree / "go.sum").write_text(f"example.com/leaf v1.0.0 {sums}\n{summed}")
    (place.tree / "sums.go").write_text('package sums\n\nimport "example.com/leaf"\n\nconst Two = leaf.One + 1\n')
    done = place.sandbox.run("go list -deps ./... | grep -F example.com/", 600)
    assert done.exit == 0 and "example.com/leaf" in done.output, done.output


@pytest.mark.skipif(shutil.which("cargo") is None or find_bubblewrap() is None, reason="needs cargo and bubblewrap")
def test_cargo_of_rustup_runs_tests_in_the_sandbox(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = Path(pwd.getpwuid(os.getuid()).pw_dir)
    monkeypatch.setenv("RUSTUP_HOME", os.environ.get("RUSTUP_HOME", str(real / ".rustup")))
    tree, at = tmp_path / "tree", tmp_path / "at"
    (tree / "src").mkdir(parents=True)
    at.mkdir()
    (tree / "Cargo.toml").write_text('[package]\nname = "sums"\nversion = "0.1.0"\nedition = "2021"\n[lib]\ndoctest = false\n')
    (tree / "src/lib.rs").write_text("#[test]\nfn adds() {\n    assert_eq!(1 + 1, 2);\n}\n")
    done = Bubblewrap(Mounts(tree, at)).run("cargo test", 120)
    assert done.exit == 0 and "test adds ... ok" in done.output, done.output
