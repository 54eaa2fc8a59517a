"""`make setup` on other machines: the real script, with stand-ins for Python and its installers on the PATH."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
NEEDED = ["bash", "env", "cat", "cut", "dirname", "mkdir", "rm", "sed", "sha256sum", "tail", "touch", "cp", "chmod"]
PYTHON = """#!/bin/sh
echo "python $*" >>"$CALLS"
case "$*" in
  *"version_info <"*) exit 0 ;;
  *realpath*) command -v "$0" ;;
  --version) echo Python 3.12.0 ;;
  *ensurepip*) [ -e "$MACHINE/ensurepip" ] ;;
  "-m pip --version") [ -e "$MACHINE/pip" ] ;;
  *-venv*) echo python3.12-venv ;;
  "-m venv "*) mkdir -p .venv/bin && cp "$0" .venv/bin/python ;;
esac
"""
OLD = "#!/bin/sh\nexit 1\n"
RECORD = '#!/bin/sh\necho "NAME $*" >>"$CALLS"\n'
APT = RECORD.replace("NAME", "apt-get") + 'touch "$MACHINE/ensurepip"\n'
SUDO = '#!/bin/sh\n[ -e "$MACHINE/sudo" ] || exit 1\nshift\nexec "$@"\n'


class Machine:
    """A folder with a copy of the script, and its own PATH."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.bin, self.calls = folder, folder / "bin", folder / "calls"
        for name in ("scripts/setup", "requirements/dev.txt", "pyproject.toml"):
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, folder / name)
        self.bin.mkdir()
        for name in NEEDED:
            (self.bin / name).symlink_to(shutil.which(name) or name)

    def has(self, name: str, script: str) -> "Machine":
        (self.bin / name).write_text(script)
        (self.bin / name).chmod(0o755)
        return self

    def offers(self, *features: str) -> "Machine":
        for feature in features:
            (self.folder / feature).touch()
        return self

    def user(self, number: int) -> "Machine":
        return self.has("id", f"#!/bin/sh\necho {number}\n")

    def setup(self) -> subprocess.CompletedProcess[str]:
        self.calls.write_text("")
        environment = {"PATH": str(self.bin), "CALLS": str(self.calls), "MACHINE": str(self.folder), "HOME": str(self.folder)}
        return subprocess.run([self.folder / "scripts/setup"], env=environment, capture_output=True, text=True)

    def called(self, words: str) -> bool:
        return words in self.calls.read_text()


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path).user(1000)


def test_a_second_set_up_does_nothing(machine: Machine):
    machine.has("python3", PYTHON).offers("ensurepip")
    assert machine.setup().returncode == 0
    assert machine.called("--require-hashes")
    again = machine.setup()
    assert (again.returncode, again.stdout) == (0, "")
    assert not machine.called("install")


def test_an_interrupted_set_up_is_done_again(machine: Machine):
    machine.has("python3", PYTHON).offers("ensurepip").setup()
    os.unlink(machine.folder / ".venv/.complete")
    machine.setup()
    assert machine.called("--require-hashes")


def test_uv_is_used_where_it_is(machine: Machine):
    machine.has("python3", PYTHON).has("uv", RECORD.replace("NAME", "uv")).offers("ensurepip")
    assert machine.setup().returncode == 0
    assert machine.called("uv pip install")
    assert not machine.called("-m pip")


def test_without_ensurepip_the_outer_pip_installs(machine: Machine):
    machine.has("python3", PYTHON).offers("pip")
    assert machine.setup().returncode == 0
    assert machine.called("python -m pip --python .venv/bin/python install")


@pytest.mark.parametrize("root", [True, False])
def test_without_any_pip_who_may_install_packages_does(machine: Machine, root: bool):
    machine.has("python3", PYTHON).has("apt-get", APT).has("sudo", SUDO).offers("sudo")
    machine.user(0 if root else 1000)
    assert machine.setup().returncode == 0
    assert machine.called("apt-get install -y --no-install-recommends python3.12-venv")


def test_who_may_not_is_told_what_to_type(machine: Machine):
    machine.has("python3", PYTHON).has("apt-get", APT).has("sudo", SUDO)
    result = machine.setup()
    assert result.returncode == 1
    assert "apt-get install python3.12-venv" in result.stderr
    assert "installing" not in result.stdout
    assert not machine.called("apt-get install")


def test_a_newer_python_beside_an_old_one_is_found(machine: Machine):
    machine.has("python3", OLD).has("python3.12", PYTHON).offers("ensurepip")
    assert machine.setup().returncode == 0


@pytest.fixture
def tester(tmp_path: Path) -> Machine:
    """Return a machine that is set up, but whose Python has no packages and can install none."""
    machine = Machine(tmp_path)
    for name in ("scripts/small-model", "requirements/small-model.txt"):
        shutil.copy(ROOT / name, tmp_path / name)
    (tmp_path / ".venv/bin").mkdir(parents=True)
    (tmp_path / ".venv/bin/python").write_text(OLD)
    (tmp_path / ".venv/bin/python").chmod(0o755)
    return machine


def get_small_model(machine: Machine, **environment: str) -> subprocess.CompletedProcess[str]:
    machine.calls.write_text("")
    known = {"PATH": str(machine.bin), "CALLS": str(machine.calls), "MACHINE": str(machine.folder)}
    return subprocess.run([machine.folder / "scripts/small-model"], env=known | environment, capture_output=True, text=True)


def test_a_small_model_that_can_not_be_had_is_said_and_no_error(tester: Machine):
    done = get_small_model(tester)
    assert done.returncode == 0 and "can't be had here, so its tests are skipped" in done.stdout
    assert not (tester.folder / ".venv/.small-model").exists(), "it is tried again the next time"


def test_a_small_model_is_got_once_with_its_hashes_and_nothing_besides(tester: Machine):
    tester.has("uv", RECORD.replace("NAME", "uv") + 'printf "#!/bin/sh\\nexit 0\\n" >.venv/bin/python\n')
    assert "done" in get_small_model(tester).stdout
    assert tester.called("--no-deps --require-hashes -r requirements/small-model.txt")
    again = get_small_model(tester)
    assert again.stdout == "" and not tester.called("uv")
