"""Nothing of one project ever shows up in another's windows or files, whatever the two have in common."""

import contextlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from leak import PLACES, WORDS, Count, Full, canary, fill, kept, repository, scripted
from person import CHECK, COMPLETE, MEND, Person, Step

from afresh.app import compose
from afresh.models import choose_model

pytestmark = [pytest.mark.journey, pytest.mark.reported]

ENVIRONMENT = "environment"


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """One user, who has a secret in the environment."""
    with pytest.MonkeyPatch.context() as patch:
        folder = tmp_path_factory.mktemp("user")
        for name in ("DATA", "CONFIG", "STATE", "CACHE"):
            patch.setenv(f"XDG_{name}_HOME", str(folder / name.lower()))
        patch.setenv("SETTLEMENT_TOKEN", canary(ENVIRONMENT))
        yield folder


@pytest.fixture(scope="module")
def full(home: Path, requires_sandbox: Callable[..., None], tmp_path_factory: pytest.TempPathFactory) -> Full:
    requires_sandbox()
    return fill(tmp_path_factory.mktemp("first"))


@pytest.fixture(scope="module")
def other(home: Path, tmp_path_factory: pytest.TempPathFactory) -> Person:
    """Another project in a folder of the same name, about the same."""
    return repository(tmp_path_factory.mktemp("second"))


@dataclass
class Heard:
    """A model that writes down every request, whole."""

    texts: list[str] = field(default_factory=list[str])

    @contextlib.contextmanager
    def listening(self) -> Iterator[None]:
        make = choose_model.make_model

        def heard(*args):
            model = make(*args)
            propose = model.propose

            def listen(request, *more):
                self.texts.append("\n".join([request.system, request.message, repr(request.tools)]))
                return propose(request, *more)

            model.propose = listen
            return model

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(compose, "make_model", heard)
            yield


def prying(full: Full) -> dict[str, Callable[[int], list[Step]]]:
    """What a model in the other project may try, by the number of the name that it tries it with."""
    blocks, facts, objects = full.blocks, full.facts, full.objects
    outside = full.person.repo
    return {
        "memory": lambda n: [
            ("search", {"path": "@" + ("memory", "notes", "decisions", "failed", "rules")[n % 5], "text": WORDS})
        ],
        "newest": lambda n: [("read", {"path": "@memory"})],
        "block": lambda n: [("read", {"path": "@" + blocks[n % len(blocks)][: 6 + n % 27]})],
        "fact": lambda n: [("read", {"path": "@" + facts[n % len(facts)]})],
        "object": lambda n: [("read", {"path": "@" + objects[n % len(objects)]})],
        "search": lambda n: [("search", {"text": ("ledger", "rounds", "zq")[n % 3]})],
        "climb": lambda n: [
            ("read", {"path": ("../../first0/repo/untracked.txt", f"{outside}/untracked.txt", "../repo/calc.py")[n % 3]})
        ],
        "note": lambda n: [("note", {"subject": "double", "text": WORDS})],
        "decide": lambda n: [("note", {"subject": "ledger", "text": WORDS, "why": "it is exact"})],
        "environment": lambda n: [("run", {"command": "env; set; cat /proc/self/environ | tr '\\0' '\\n'"})],
        "git": lambda n: [
            ("run", {"command": "git log --all; git branch -a; git remote -v; ls -la . ..; cat repo/node_modules/*/*"})
        ],
        "wrong": lambda n: [("edit", {"path": "calc.py", "old": "x + 2", "new": "x + 3"})],
        "compact": lambda n: [("note", {"subject": "compact", "text": WORDS})],
    }


COMMANDS: tuple[Callable[[Full, int], tuple[str, ...]], ...] = (
    lambda full, n: ("memory", "list", *WORDS.split(), "--json"),
    lambda full, n: ("memory", "list", "-n", "100"),
    lambda full, n: ("memory", "show", full.facts[n % len(full.facts)]),
    lambda full, n: ("knowledge", "list", "--json"),
    lambda full, n: ("knowledge", "show", full.objects[n % len(full.objects)]),
    lambda full, n: ("context", "show", "--block", full.blocks[n % len(full.blocks)]),
    lambda full, n: ("instructions",),
    lambda full, n: ("template", "list"),
    lambda full, n: ("status", "--all"),
    lambda full, n: ("answer",),
    lambda full, n: ("export",),
    lambda full, n: ("doctor", "--rebuild"),
)
EVERY = (
    "memory", "newest", "block", "fact", "object", "search", "climb", "note", "decide", "environment", "git", "wrong", "compact",
)  # fmt: skip


def pry(full: Full, other: Person, ways: Sequence[tuple[str, int]], but: frozenset[str] = frozenset(), most: int = 0) -> Count:
    """A task in the other project that tries all of these, and then a look at all that it has seen and left behind."""
    known, heard = prying(full), Heard()
    steps = [known[way](number) for way, number in ways]
    grouped = [[action for step in steps[at : at + 4] for action in step] for at in range(0, len(steps), 4)]
    script = scripted(other, [*grouped, [MEND], [COMPLETE]])
    goal, check = f"{WORDS}: calc.py, untracked.txt, first/calc.py and repo/calc.py are wrong", CHECK if most else "true"
    with heard.listening():
        told = other.runs(script, "--no-sandbox", "--json", goal=goal, check=check)
    assert len(heard.texts) >= len(grouped) + 1, told.err
    canaries, count = {**full.canaries(but), canary(ENVIRONMENT): ENVIRONMENT}, Count(windows=len(heard.texts))
    count.look(heard.texts, canaries, "a window")
    for number, command in enumerate(COMMANDS[:most]):
        said = other.types(*command(full, number + len(ways)))
        count.look((said.out, said.err), canaries, " ".join(command(full, number)))
    for name, text in kept(other.repo / ".afresh"):
        count.look((text,), canaries, name)
    return count


def of_user(home: Path, full: Full) -> Count:
    """All but the trees of tasks, which are the project's own, in a folder of its own."""
    count = Count()
    for name, text in kept(home):
        if "/worktrees/" not in name:
            count.look((text,), full.canaries(), f"the user's {name}")
    return count


ways = st.lists(st.tuples(st.sampled_from(EVERY), st.integers(0, 400)), min_size=6, max_size=16)


@pytest.mark.daily
@settings(max_examples=2)
@example(ways=[(way, number * 13) for number, way in enumerate((*EVERY, "memory", "memory", "block", "fact"))])
@given(ways=ways)
def test_no_window_of_another_project_ever_holds_a_canary(
    full: Full, other: Person, home: Path, ways: list[tuple[str, int]]
) -> None:
    assert not pry(full, other, ways, most=len(COMMANDS)).found
    assert not of_user(home, full).found


@pytest.mark.torture
@pytest.mark.parametrize("part", range(8))
@settings(max_examples=5)
@given(ways=ways, places=st.sets(st.sampled_from(PLACES), min_size=1))
def test_wherever_the_canaries_are_and_whatever_is_tried(
    tmp_path_factory: pytest.TempPathFactory, home: Path, part: int, ways: list[tuple[str, int]], places: set[str]
) -> None:
    one = fill(tmp_path_factory.mktemp("any"), sorted(places))
    assert not pry(one, repository(tmp_path_factory.mktemp("other")), ways).found
    assert not of_user(home, one).found


def test_nor_when_each_runs_in_a_process_of_its_own(full: Full, home: Path, tmp_path: Path) -> None:
    other = repository(tmp_path)
    known = prying(full)
    script = scripted(other, [known["memory"](0) + known["environment"](0), [MEND], [COMPLETE]])
    process = other.starts("run", WORDS, "--type", "fix_bug", "--check", "true", "--model", script, "--no-sandbox")
    out, err = process.communicate(timeout=600)
    assert process.returncode == 0, err
    count, canaries = Count(), {**full.canaries(), canary(ENVIRONMENT): ENVIRONMENT}
    count.look((out, err, *[text for _, text in kept(other.repo / ".afresh")]), canaries, "another process")
    assert count.texts > 20 and not count.found


@pytest.mark.promise("it edits your checkout and can read your home")
def test_a_command_in_the_sandbox_reaches_no_file_of_another_project(
    full: Full, tmp_path: Path, requires_sandbox: Callable[..., None]
) -> None:
    requires_sandbox()
    other, heard, place = repository(tmp_path), Heard(), full.person.repo
    look = f"cat {place}/untracked.txt {place}/.afresh/AGENT.md; strings {place}/.afresh/state/afresh.db; grep -r double {place}"
    with heard.listening():
        other.runs(scripted(other, [[("run", {"command": f"{look}; ls -R {place} ~ $HOME; true"})], [MEND], [COMPLETE]]))
    count = Count()
    count.look(heard.texts, full.canaries(), "a window")
    assert len(heard.texts) == 3 and not count.found
