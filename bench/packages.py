"""Work through real packages with the suggestions alone: each is applied, tested with the package's own suite, kept or reverted.

    python bench/packages.py [name==version …] [--folder DIR] [--most N] [--json FILE]

Needs the network once for each package (pip). Leaves a git repository with one commit for each kept suggestion.
"""

import argparse
import json
import subprocess
import sys
import tarfile
import time
import zipfile
from dataclasses import asdict, dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "src"))

from afresh.domain.fact import Fact, FactKind
from afresh.domain.state import State
from afresh.domain.task import Task
from afresh.insight import PythonInsight

PACKAGES = ("voluptuous", "sqlparse")
TIMEOUT = 300


@dataclass(frozen=True)
class Checkout:
    """A git work tree as the port `Files`."""

    root: Path

    def read(self, path: str) -> str:
        return (self.root / path).read_bytes().decode()

    def write(self, path: str, text: str) -> None:
        (self.root / path).write_bytes(text.encode())

    def paths(self) -> list[str]:
        return sorted(git(self.root, "ls-files", "-z", "-co", "--exclude-standard").split("\0")[:-1])

    def stamps(self) -> dict[str, str]:
        return {path: (self.root / path).read_bytes().hex() for path in self.paths()}


@dataclass
class Report:
    package: str
    suite: str = ""
    before: int = 0
    after: int = 0
    kept: list[str] = field(default_factory=list)
    reverted: list[tuple[str, str]] = field(default_factory=list)
    green_before: bool = False
    green_after: bool = False
    seconds: float = 0.0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("packages", nargs="*", default=PACKAGES)
    parser.add_argument("--folder", type=Path, default=Path("/tmp/afresh-packages"))
    parser.add_argument("--most", type=int, default=100, help="suggestions to try for each package")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    reports = [work(package, options.folder, options.most) for package in options.packages]
    for report in reports:
        print(
            f"{report.package}: violations {report.before} -> {report.after}, kept {len(report.kept)},"
            f" reverted {len(report.reverted)}, suite green before {report.green_before}, after {report.green_after},"
            f" {report.seconds:.0f} s"
        )
    if options.json:
        options.json.write_text(json.dumps([asdict(report) for report in reports], indent=2))


def work(package: str, folder: Path, most: int) -> Report:
    started = time.monotonic()
    root = download(package, folder / package.replace("==", "-"))
    files, insight, report = Checkout(root), PythonInsight(), Report(package)
    task = Task(id=package, goal="bring every function to a complexity of at most 10", type="fix_violation")
    facts: list[Fact] = []
    report.before = insight.measure(State(task=task), files)
    report.suite, report.green_before = suite(root)
    while report.green_before and len(report.kept) + len(report.reverted) < most:
        offers = [look for look in insight.looks(State(task=task, facts=tuple(facts)), files) if look.kind == "suggestion"]
        if not offers:
            break
        head, _, edits = offers[0].text.partition("\n")
        why = attempt(files, json.loads(edits))
        print("reverted" if why else "kept", head, why, flush=True)
        if why:
            report.reverted.append((head, why))
            facts.append(Fact(FactKind.FAILED_APPROACH, f"apply {offers[0].subject}", why))
        else:
            report.kept.append(head)
            commit(root, head)
    report.after = insight.measure(State(task=task), files)
    report.green_after = suite(root)[1]
    report.seconds = time.monotonic() - started
    return report


def attempt(files: Checkout, edits: list[dict[str, str]]) -> str:
    """Apply and test; restore and say why if the suite is not green."""
    before = {edit["path"]: files.read(edit["path"]) for edit in edits}
    for edit in edits:
        text = files.read(edit["path"])
        assert text.count(edit["old"]) == 1, "an edit does not fit"
        files.write(edit["path"], text.replace(edit["old"], edit["new"]))
    last, green = suite(files.root)
    if green:
        return ""
    for path, text in before.items():
        files.write(path, text)
    return last


def suite(root: Path) -> tuple[str, bool]:
    """The last line of the package's own tests, and whether they all passed."""
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "--no-header"]
    layout = "src" if (root / "src").is_dir() else "."
    environment = {"PATH": "/usr/bin:/bin", "PYTHONPATH": str(root / layout), "PYTHONDONTWRITEBYTECODE": "1", "HOME": "/tmp"}
    try:
        done = subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True, timeout=TIMEOUT)
    except subprocess.TimeoutExpired:
        return f"no end after {TIMEOUT} s", False
    lines = [line for line in done.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))]
    return (lines or done.stdout.splitlines()[-1:] or [done.stderr[-200:]])[0], done.returncode == 0


def download(package: str, folder: Path) -> Path:
    """The source archive, unpacked and committed; an earlier download is put back to its first commit."""
    if not folder.exists():
        folder.mkdir(parents=True)
        pip = [sys.executable, "-m", "pip", "download", "-q", "--no-binary", ":all:", "--no-deps"]
        subprocess.run([*pip, "-d", str(folder), package], check=True)
        unpack(next(path for path in folder.iterdir() if path.is_file()), folder)
    root = next(path for path in folder.iterdir() if path.is_dir())
    if not (root / ".git").exists():
        git(root, "init", "-q")
        commit(root, "As published")
        git(root, "tag", "published")
    git(root, "reset", "-q", "--hard", "published")
    return root


def unpack(archive: Path, folder: Path) -> None:
    if archive.suffix == ".zip":
        with zipfile.ZipFile(archive) as packed:
            packed.extractall(folder)
        return
    with tarfile.open(archive) as packed:
        packed.extractall(folder, filter="data")


def commit(root: Path, message: str) -> None:
    git(root, "add", "-A")
    git(root, "-c", "user.name=bench", "-c", "user.email=bench@example.org", "commit", "-q", "-m", message)


def git(root: Path, *arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=root, check=True, capture_output=True, text=True).stdout


if __name__ == "__main__":
    main()
