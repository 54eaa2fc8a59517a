"""Commits of a repository that tell what is to be found, and their trees, straight from git's objects: nothing is checked out."""

import heapq
import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

CODE = (".py", ".go", ".ts", ".tsx", ".js", ".jsx", ".mjs", ".cjs", ".rs", ".java", ".cs")
LARGEST = 400_000
"""Bytes of a file: what is larger is data, or generated."""
TRAILER = re.compile(r"^(?:[A-Z][\w-]*-by|Change-Id|git-svn-id|Co-authored-by): .*$", re.MULTILINE | re.IGNORECASE)
WORD = re.compile(r"[A-Za-z]{2,}")
FEWEST_WORDS, MOST_FILES = 3, 5
DEEPEST = 8_000
"""Commits that are read of a repository."""


@dataclass(frozen=True, slots=True)
class Commit:
    id: str
    parents: tuple[str, ...]
    when: int
    author: str
    message: str
    changed: tuple[tuple[str, str], ...]
    """Pairs of A, M, D or T and a path; a rename is a removal and an addition. None for a merge."""

    @property
    def paths(self) -> tuple[str, ...]:
        return tuple(path for _, path in self.changed)


@dataclass(frozen=True, slots=True)
class Case:
    """What is asked, of which tree, and the files that the commit then changed."""

    commit: Commit
    text: str
    wanted: tuple[str, ...]

    @property
    def before(self) -> str:
        return self.commit.parents[0]

    @property
    def named(self) -> bool:
        """Whether the text names a file that is wanted, by its name or the name without its ending."""
        said = set(re.findall(r"[\w.-]*\w", self.text.lower()))
        names = {Path(path).name.lower() for path in self.wanted}
        return bool(said & (names | {name.rpartition(".")[0] for name in names}))


@dataclass
class Repository:
    """A git directory, asked by one process that stays."""

    git_dir: Path
    blobs: dict[str, str] = field(default_factory=dict[str, str])

    def git(self, *arguments: str) -> str:
        command = ["git", f"--git-dir={self.git_dir}", "-c", "core.quotePath=false", *arguments]
        return subprocess.run(command, check=True, capture_output=True).stdout.decode(errors="replace")

    @cached_property
    def commits(self) -> dict[str, Commit]:
        """By id, the newest first."""
        form = "%x1e%H%x1f%P%x1f%ct%x1f%an%x1f%B%x1f"
        said = self.git("log", f"-{DEEPEST}", f"--format={form}", "--name-status", "--no-renames")
        return {commit.id: commit for record in said.split("\x1e")[1:] if (commit := parsed(record))}

    @cached_property
    def objects(self) -> "subprocess.Popen[bytes]":
        command = ["git", f"--git-dir={self.git_dir}", "cat-file", "--batch"]
        return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def blob(self, name: str) -> str:
        if name not in self.blobs:
            assert self.objects.stdin and self.objects.stdout
            self.objects.stdin.write(f"{name}\n".encode())
            self.objects.stdin.flush()
            size = int(self.objects.stdout.readline().split()[2])
            self.blobs[name] = self.objects.stdout.read(size + 1)[:size].decode(errors="replace")
        return self.blobs[name]

    def tree(self, commit: str) -> dict[str, str]:
        """Code of a commit: path -> name of its blob. What is too large is not among it, for anybody."""
        found: dict[str, str] = {}
        for line in self.git("ls-tree", "-r", "-l", "-z", commit).split("\0")[:-1]:
            about, path = line.split("\t", 1)
            mode, _, blob, size = about.split()
            if mode.startswith("100") and path.endswith(CODE) and int(size) <= LARGEST:
                found[path] = blob
        return found

    def history(self, commit: str, most: int) -> Iterator[Commit]:
        """A commit's own ancestors, itself first, the newest first; no merges."""
        waiting, seen = [(-self.commits[commit].when, commit)], {commit}
        while waiting and most:
            found = self.commits[heapq.heappop(waiting)[1]]
            if len(found.parents) < 2:
                most -= 1
                yield found
            for parent in found.parents:
                if parent not in seen and parent in self.commits:
                    seen.add(parent)
                    heapq.heappush(waiting, (-self.commits[parent].when, parent))

    def close(self) -> None:
        if "objects" in self.__dict__:
            self.objects.kill()
            self.objects.communicate()


def parsed(record: str) -> Commit:
    name, parents, when, author, message, changed = record.split("\x1f")
    pairs = [line.split("\t", 1) for line in changed.strip().splitlines() if "\t" in line]
    return Commit(name, tuple(parents.split()), int(when), author, message, tuple((kind[0], path) for kind, path in pairs))


def cases(repository: Repository, most: int, skip: int = 0) -> list[Case]:
    """The newest commits that fit, the newest first."""
    found: list[Case] = []
    for commit in repository.commits.values():
        if case := fitting(commit, repository):
            found.append(case)
        if len(found) == skip + most:
            break
    return found[skip:]


def fitting(commit: Commit, repository: Repository) -> Case | None:
    """A commit with one parent, by a person, with some words, that changed one to five files of code that were there before."""
    if len(commit.parents) != 1 or commit.parents[0] not in repository.commits or "[bot]" in commit.author:
        return None
    text = TRAILER.sub("", commit.message).strip()
    code = [(kind, path) for kind, path in commit.changed if path.endswith(CODE)]
    if len(WORD.findall(text)) < FEWEST_WORDS or not 1 <= len(code) <= MOST_FILES:
        return None
    before = repository.tree(commit.parents[0])
    wanted = tuple(path for kind, path in code if kind != "A" and path in before)
    return Case(commit, text, wanted) if wanted else None
