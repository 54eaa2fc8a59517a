"""Odd repositories, made from a seed, and the tour of commands that each is taken on."""

import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from random import Random

from person import CALC, COMPLETE, MEND, TEST, Person, Step

SOURCES = (".py", ".js", ".ts", ".rs", ".go", ".java", ".cs", ".md", ".toml", ".json", ".yml", "")
MANIFESTS = (
    "package.json", "pyproject.toml", "Cargo.toml", "Makefile", "go.mod", "tox.ini", "setup.cfg", "tsconfig.json", "pom.xml",
    "pytest.ini", "noxfile.py", ".pre-commit-config.yaml", ".editorconfig", ".gitignore", ".gitattributes", "AGENTS.md",
    ".github/workflows/ci.yml", "conftest.py", "__init__.py", ".python-version", "requirements.txt", "README.md",
    "jest.config.js", ".afresh/config.toml",
    ".afresh/AGENT.md", ".afresh/HEARTBEAT.md", ".afresh/templates/odd.yaml",
)  # fmt: skip
BROKEN = (
    b"", b"\0", b"{", b"[[[[", b"[" * 3_000, b'{"scripts": 7}', b'{"scripts": {"test": ["a"]}}',
    b'{"scripts": {"test": "\\udead"}}', b"[tool]\npytest = 3\n", b"[project]\nname = 7\ndependencies = 'x'\n",
    b"[package]\nname = []\n", b"test:\n", b"\ttest\n", b"include nowhere.mk\ntest: ; @true\n", b"a: &a [*a]\n",
    b"- &a [1]\n- *a\n", b"\xff\xfe{\0}\0", b"\xef\xbb\xbf{}", b"null", b"7", b"\r", b"on: push\njobs: 3\n",
    b"jobs:\n  a:\n    steps: [run]\n", b"* filter=x\n", b"* working-tree-encoding=UTF-99\n", b"* text eol=crlf ident\n",
    b"[core]\n", b"import os; os._exit(3)\n", b"!*\n*\n", b"[\n", b"(*\\\n", b"---\n---\n", b"\xc3(\n", b"<project>" * 400,
    b"{" * 2_000, b"1" * 5_000, b'"\\ud83d"', b"x = 1\n" * 50_000,
)  # fmt: skip
CONTENTS = (
    b"", b"\0", b"\0\5\26\7", b"def f():\n    return '\0'\n", "def f(): pass\n".encode("utf-16"),
    "x = 'ü'\n".encode("latin-1"), b"\xef\xbb\xbfdef f(): pass\n", b"a = 1\rb = 2\rdef f(): pass\r",
    b"# coding: no-such\nx = 1\n", b"# coding: rot13\nk = 1\n", b"x" * 2_500_000, b"y = '" + b"z" * 300_000 + b"'\n",
    b"(" * 5_000, b"x = " + b"-" * 20_000 + b"1\n", b"\xff\xfe\xfd\n",
    b"def f():\n" + b"".join(b" " * n + b"if x:\n" for n in range(1, 120)) + b" " * 121 + b"pass\n",
    b"\x1b]0;x\x07\x9b31m\n", b"test('\\uDEAD', () => {})\n", b"def test_x():\n    raise ValueError('\\udead')\n",
    b"\x0c\x0b\x1c\n", b"'''\n", b"\\\n", b"0x", b"class A(A): pass\n",
    b"from . import *\nfrom .. import *\nimport calc.calc.calc\n", b"<<<<<<< a\n=======\n>>>>>>> b\n", "​⁠‮x = 1\n".encode(),
    b"#!/bin/sh\n", b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 3\n",
)  # fmt: skip
NAMES = (
    b"\xff.py", b"a\nb.py", b"a\tb.py", b'"q".py', b"a b.py", b"-rf.py", b"--help", b":!x.py", b"*.py", b"[a].py",
    b"\xc3\xbc.py", b"u\xcc\x88.py", b"\x1b[31m.py", b"\xed\xa0\x80.py", b"a\\b.py", b"$(x).py", b"x" * 250 + b".py",
    b"CALC.py", b"Calc.py", b"con.py", b".git.py", b"~.py", b"@.py", b"#.py", b"%s.py", b"{x}.py", b"\xe2\x80\xae.py",
    b"\x7f.py", b"'.py", b" .py", b"...", b"d\xff/x.py", b"d\ne/x.py", b"test_\xff.py", b"tests/-x.py", b"a::b.py",
    b"a" * 200 + b"/" + b"b" * 200 + b"/c.py", b"src/\x01.js", b";.py", b"!x",
)  # fmt: skip


def put(repo: Path, name: str | bytes, content: bytes) -> None:
    place = os.path.join(os.fsencode(repo), os.fsencode(name))
    with suppress(OSError):
        os.makedirs(os.path.dirname(place), exist_ok=True)
        if not os.path.lexists(place):
            with open(place, "wb") as file:
                file.write(content)


def go_down(repo: Path, name: str, depth: int, content: bytes | None) -> None:
    """A folder so deep that no path names its end."""
    folder = os.open(repo, os.O_RDONLY)
    for _ in range(depth):
        with suppress(FileExistsError):
            os.mkdir(name, dir_fd=folder)
        below = os.open(name, os.O_RDONLY, dir_fd=folder)
        os.close(folder)
        folder = below
    if content is not None:
        with open(os.open("end.py", os.O_WRONLY | os.O_CREAT, dir_fd=folder), "wb") as file:
            file.write(content)
    os.close(folder)


def link(repo: Path, random: Random) -> None:
    name = f"link{random.randrange(99)}{random.choice(SOURCES)}"
    target = random.choice(
        ("/etc/passwd", "..", ".", name, "nowhere", "/", "calc.py", "loop", "/proc/self/fd/0", "../repo", "\udcff")
    )
    with suppress(FileExistsError):
        os.symlink(target, repo / name)
        os.symlink("loop2", repo / "loop")
        os.symlink("loop", repo / "loop2")


def nest(person: Person, random: Random) -> None:
    inner = person.repo / random.choice(("inner", "vendor/inner", "tests/inner"))
    put(inner, "inside.py", b"x = 1\n")
    os.system(f"cd '{inner}' && git init -q && git add -A")
    if random.random() < 0.7:
        os.system(f"cd '{inner}' && git -c user.name=t -c user.email=t@t commit -qm inner")
    if random.random() < 0.3:
        shutil.move(inner / ".git", inner / ".kept")
        put(inner, ".git", b"gitdir: .kept\n")


def submodule(person: Person, random: Random) -> None:
    commit = person.git("rev-parse", "HEAD")
    person.git("update-index", "--add", "--cacheinfo", f"160000,{commit},mod{random.randrange(9)}")
    put(person.repo, ".gitmodules", random.choice((b'[submodule "mod"]\n\tpath = mod\n\turl = ../none\n', b"[", b"\0")))


def flag(person: Person, random: Random) -> None:
    how = random.choice(("--skip-worktree", "--assume-unchanged", "--chmod=+x"))
    person.git("update-index", how, "--", "other.py")
    if how != "--chmod=+x" and random.random() < 0.5:
        (person.repo / "other.py").unlink()


def special(repo: Path, random: Random) -> None:
    with suppress(OSError):
        if random.random() < 0.5:
            os.mkfifo(repo / f"pipe{random.choice(SOURCES)}")
        else:
            with socket.socket(socket.AF_UNIX) as one:
                os.chdir(repo)
                one.bind("socket.py")
                os.chdir("/")


def set_mode(repo: Path, random: Random) -> None:
    place = repo / f"mode{random.randrange(9)}.py"
    put(repo, place.name, b"x = 1\n")
    place.chmod(random.choice((0, 0o111, 0o444, 0o4755, 0o777)))


def configure(person: Person, random: Random) -> None:
    name, value = random.choice(
        (("core.hooksPath", "."), ("core.hooksPath", "calc.py"), ("core.autocrlf", "true"), ("core.precomposeUnicode", "true"),
         ("core.sparseCheckout", "true"), ("core.fileMode", "false"), ("core.ignoreCase", "true"), ("core.quotePath", "true"),
         ("filter.x.clean", "false"), ("filter.x.smudge", "cat"), ("core.excludesFile", "calc.py"), ("core.eol", "crlf"),
         ("status.showUntrackedFiles", "no"), ("diff.external", "false"), ("user.name", "\u0001"), ("alias.status", "!false"),
         ("core.worktree", "."), ("index.version", "4"), ("core.untrackedCache", "true"), ("i18n.commitEncoding", "latin-1"))
    )  # fmt: skip
    person.git("config", name, value)


def detach(person: Person, random: Random) -> None:
    person.git(
        *random.choice(
            (("checkout", "-q", "--detach"), ("checkout", "-qb", "a/b-\u00fc"), ("symbolic-ref", "HEAD", "refs/heads/no"))
        )
    )


def change_index(person: Person, random: Random) -> None:
    how = random.choice(("none", "split", "sparse", "conflict", "lock", "intent"))
    if how == "none":
        (person.repo / ".git/index").unlink()
    elif how == "split":
        person.git("update-index", "--split-index")
    elif how == "sparse":
        put(person.repo, "far/away.py", b"x = 1\n")
        person.commit("far")
        person.git("sparse-checkout", "set", "--cone", "--sparse-index", "src")
    elif how == "conflict":
        blob = person.git("rev-parse", "HEAD:calc.py")
        lines = "".join(f"100644 {blob} {stage}\tother.py\n" for stage in (1, 2, 3))
        subprocess.run(
            ["git", "update-index", "--index-info"], cwd=person.repo, input=f"0 {'0' * 40}\tother.py\n{lines}".encode()
        )
    elif how == "lock":
        put(person.repo, ".git/index.lock", b"")
    else:
        put(person.repo, "intent.py", b"x = 1\n")
        person.git("add", "-N", "intent.py")


def shallow(person: Person, random: Random) -> None:
    """A clone of one commit, or a linked worktree, in the place of the repository."""
    person.repo.rename(person.folder / "origin")
    source = person.folder / "origin"
    if random.random() < 0.5:
        subprocess.run(["git", "clone", "-q", "--depth=1", f"file://{source}", str(person.repo)], check=True)
    else:
        subprocess.run(["git", "worktree", "add", "-q", "--detach", str(person.repo)], cwd=source, check=True)


Oddity = Callable[[Person, Random], object]
BEFORE: dict[str, Oddity] = {
    "name": lambda person, random: put(person.repo, random.choice(NAMES), random.choice((b"x = 1\n", *CONTENTS))),
    "content": lambda person, random: put(
        person.repo, f"{random.choice(('', 'tests/', 'src/'))}odd{random.choice(SOURCES)}", random.choice(CONTENTS)
    ),
    "manifest": lambda person, random: put(person.repo, random.choice(MANIFESTS), random.choice(BROKEN)),
    "deep": lambda person, random: go_down(person.repo, "d", random.choice((60, 200, 600)), b"x = 1\n"),
    "link": lambda person, random: link(person.repo, random),
    "nested": nest,
    "mode": lambda person, random: set_mode(person.repo, random),
}
AFTER: dict[str, Oddity] = {
    "untracked name": lambda person, random: put(person.repo, random.choice(NAMES), random.choice(CONTENTS)),
    "ignored all": lambda person, random: put(person.repo, ".git/info/exclude", b"*\n"),
    "deeper": lambda person, random: go_down(person.repo, "dddddddddd", random.choice((500, 3_000)), None),
    "special": lambda person, random: special(person.repo, random),
    "submodule": submodule,
    "flag": flag,
    "configured": configure,
    "detached": detach,
    "index": change_index,
    "shallow": shallow,
    "emptied": lambda person, random: (person.repo / "other.py").unlink(missing_ok=True),
    "changed": lambda person, random: (person.repo / "other.py").write_bytes(random.choice(CONTENTS)),
}
COMMANDS = (
    "mkdir -p a/b && mkfifo a/b/pipe.py", "printf '\\0' > odd.py", "ln -s /etc/passwd out.py; ln -s loop loop", "true",
    f"{sys.executable} -c \"import os; [(os.mkdir('d'), os.chdir('d')) for i in range(1500)]; open('f.py', 'w')\"",
    f"{sys.executable} -c \"import os; [(os.mkdir('dddddddddd'), os.chdir('dddddddddd')) for i in range(3000)]\"",
    f"{sys.executable} -c \"import os; open(b'\\xff\\n.py', 'w'); os.mkdir('shut'); os.chmod('shut', 0)\"",
    "mkdir in && cd in && git init -q . && echo x > y", "printf '\\377\\376\\033[31m\\r'; exit 3",
    "rm -rf .git calc.py; touch .git", "yes | head -c 3000000; echo; seq 200000", "chmod 000 calc.py test_calc.py",
    "mv calc.py tmp && mkdir calc.py; true", "rm -rf * .*",
)  # fmt: skip
CHECKS = (
    r"grep -q 'x [*] 2' calc.py",
    f"{sys.executable} -m unittest -q test_calc",
    f"{sys.executable} -m pytest -q test_calc.py",
)


def make_odd_repository(person: Person, random: Random) -> list[str]:
    """What is odd about it, in the order in which it was done."""
    told = [random.choice(tuple(BEFORE)) for _ in range(random.randrange(1, 5))]
    for name in told:
        BEFORE[name](person, random)
    with suppress(subprocess.CalledProcessError):
        person.git("add", "-A", "--ignore-errors")
    with suppress(subprocess.CalledProcessError):
        person.git("commit", "-qm", "odd")
    later = [random.choice(tuple(AFTER)) for _ in range(random.randrange(3))]
    for name in later:
        with suppress(OSError, subprocess.CalledProcessError):
            AFTER[name](person, random)
    return [*told, "|", *later]


def begin(person: Person) -> None:
    person.repo.mkdir()
    person.git("init", "-q", "-b", "main", "--template=")
    for path, text in {"calc.py": CALC, "test_calc.py": TEST, "other.py": "y = 1\n"}.items():
        person.write(path, text)
    person.commit()


def tour(person: Person, random: Random) -> tuple[str, list[str]]:
    """`init`, `map`, `run`, `resume`, `diff` and `discard` or `apply`: how the task ended, and what was wrong."""
    check, command = random.choice(CHECKS), random.choice(COMMANDS)
    first: list[list[Step]] = [[("read", {"path": "odd.py"}), ("search", {"query": "def"})], [("run", {"command": command})]]
    replies, wrong, status = [*first, [MEND], [COMPLETE]], list[str](), "refused"

    def does(*words: str, codes: tuple[int, ...] = (0,)) -> int:
        told = person.types(*words)
        odd = told.code not in codes or (told.code == 4 and "the script has" not in told.words)
        if odd or "bug in afresh" in told.words or "Traceback" in told.words:
            wrong.append(f"{' '.join(words)[:90]}: exit {told.code}: {(told.err or told.out)[-900:]}")
        return told.code

    if random.random() < 0.3:
        does("init", codes=(0, 1, 2))
    does("map", "--json", codes=(0, 2))
    script = person.script(*replies[:2])
    ran = does("run", "double is wrong", "--type", "fix_bug", "--check", check, "--model", script, "--quiet", codes=(2, 3, 4))
    if ran == 4:
        person.script(*replies)
        does("resume", "--quiet", codes=(0, 1, 3, 4))
        task = person.shown()
        status = task["status"]
        does("show")
        does("diff", codes=(0, 1))
        closing = "apply" if status == "done" and random.random() < 0.4 else "discard"
        does(
            closing, task["task"]["id"], *([] if closing == "apply" else ["--yes"]), codes=(0, 1) if closing == "apply" else (0,)
        )
        if trees := [one.name for one in person.trees.iterdir() if one.is_dir()] if closing == "discard" else []:
            wrong.append(f"discard left {trees}")
    return status, [f"check {check!r}, command {command!r}", *wrong] if wrong else []
