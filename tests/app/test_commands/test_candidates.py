"""Test commands from a project's files, in order of trust."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from small_projects import given as configuration

from afresh.app.test_commands.candidates import find_candidates
from afresh.code.config_files import ProjectConfiguration

TESTS = {"tests/test_a.py": ""}


def commands(texts: dict[str, str]) -> list[str]:
    return [one.command for one in find_candidates(configuration(texts)) if not one.refused]


def refused(texts: dict[str, str]) -> dict[str, str]:
    return {one.command: one.refused for one in find_candidates(configuration(texts)) if one.refused}


WORKFLOW = """\
jobs:
  test:
    steps:
      - uses: actions/checkout@v4
      - run: pip install -e .
      - name: tests
        run: |
          echo begin
          pytest -x \\
            tests
      - run: go test ./...
        working-directory: ./service
      - run: curl -s https://example.org/install | sh && pytest-bin
"""


def test_what_a_server_runs_goes_first_also_over_several_lines_and_in_a_folder():
    texts = {".github/workflows/ci.yml": WORKFLOW, "service/a_test.go": "", **TESTS}
    assert commands(texts)[:2] == ["pytest -x tests", "cd service && go test ./..."]


def test_a_server_that_names_a_recipe_leads_to_it():
    makefile = "PYTHON ?= python3\nBIN = .venv/bin\n\ntest: lint\n\t@$(PYTHON) -m pytest -q tests\n\nlint:\n\truff check .\n"
    found = find_candidates(
        configuration(
            {".github/workflows/ci.yml": "jobs:\n  a:\n    steps:\n    - run: make test\n", "Makefile": makefile, **TESTS}
        )
    )
    assert (found[0].command, found[0].source) == ("python -m pytest -q tests", ".github/workflows/ci.yml and Makefile: test")


@pytest.mark.parametrize(
    ("path", "text", "command"),
    [
        ("tox.ini", "[testenv]\ncommands =\n    pytest {posargs:tests}\n", "pytest tests"),
        (
            "tox.ini",
            "[testenv]\nchangedir = tests\ncommands = {envpython} runtests.py {posargs}\n",
            "cd tests && python runtests.py",
        ),
        ("setup.cfg", "[tox:testenv]\ncommands = pytest --basetemp={envtmpdir}\n", "pytest"),
        ("pyproject.toml", '[tool.tox.env_run_base]\ncommands = [["pytest", "-v", {replace = "posargs"}]]\n', "pytest -v"),
        ("pyproject.toml", '[tool.hatch.envs.default.scripts]\ntest = "pytest {args:tests}"\n', "pytest tests"),
        ("Makefile", "check:\n\tpython -m unittest discover -s tests\n", "python -m unittest discover -s tests"),
        (".gitlab-ci.yml", "test:\n  script:\n    - pip install tox\n    - pytest -q tests\n", "pytest -q tests"),
        (".ci/run", "#!/bin/sh\nset -e\nexec pytest -n 2\n", "pytest -n 2"),
    ],
)
def test_each_place_where_a_command_is_written_is_read(path: str, text: str, command: str):
    assert commands({path: text, **TESTS})[0] == command


@pytest.mark.parametrize(
    ("texts", "command"),
    [
        ({"test_a.py": ""}, "python -m pytest -q"),
        ({"Cargo.toml": "[package]\nname='a'\n"}, "cargo test"),
        ({"go.mod": "module a\n", "a_test.go": ""}, "go test ./..."),
        ({"package.json": '{"scripts": {"test": "vitest run"}}'}, "npm test"),
        ({"package.json": '{"scripts": {"test": "jest"}, "packageManager": "pnpm@9"}'}, "pnpm test"),
        ({"package.json": '{"scripts": {"test": "jest"}}', "yarn.lock": ""}, "yarn test"),
        ({"pom.xml": "<project/>", "src/test/java/ATest.java": ""}, "mvn -q test"),
        ({"build.gradle": "", "gradlew": "", "src/test/java/ATest.java": ""}, "./gradlew test"),
        ({"T/T.csproj": '<PackageReference Include="xunit"/>'}, "dotnet test T/T.csproj"),
    ],
)
def test_without_a_word_of_the_project_the_files_tell(texts: dict[str, str], command: str):
    assert commands(texts)[0] == command


@pytest.mark.parametrize(
    "texts",
    [
        {},
        {"main.py": "print(1)"},
        {"go.mod": "module a\n", "a.go": ""},
        {"package.json": '{"scripts": {"build": "tsc"}}'},
        {"package.json": '{"scripts": {"test": "echo \\"no test specified\\" && exit 1"}}'},
        {"pom.xml": "<project/>"},
        {"node_modules/x/test_a.py": ""},
    ],
)
def test_better_no_check_than_one_that_checks_nothing(texts: dict[str, str]):
    assert commands(texts) == []


@pytest.mark.parametrize("script", ["rm -rf /", "curl -s x | sh", "jest; rm -rf x", "sudo jest", "node -e $(id)", "npx evil"])
def test_a_script_that_starts_what_is_not_known_is_shown_not_taken(script: str):
    text = '{"scripts": {"test": ' + f'"{script}"' + "}}"
    assert commands({"package.json": text}) == []
    assert list(refused({"package.json": text})) == ["npm run test"]


def test_a_project_with_a_runner_of_its_own_is_not_run_by_another():
    texts = {"tox.ini": "[testenv]\nchangedir = tests\ncommands = python runtests.py\n", "tests/runtests.py": "", **TESTS}
    assert commands(texts) == ["cd tests && python runtests.py"]


def test_where_pytest_is_configured_unittest_is_no_substitute():
    assert commands({"pytest.ini": "[pytest]\n", **TESTS}) == ["python -m pytest -q"]
    assert commands(TESTS) == ["python -m pytest -q", "python -m unittest discover -s tests"]


SAID = [
    "[testenv]\n",
    "commands =",
    " pytest {posargs}\n",
    "test:\n",
    "- run: |\n",
    "  run: pytest\n",
    "scripts:",
    "tox",
    "make test\n",
]
ODD = ["\t", "$(A)", "A = $(A)\n", "{", "}", ":", "'", '"""', "\\\n", "[[", "]]", "\x00", "<dependency>", "true", "é", "&a *a"]
PARTS = st.sampled_from(SAID + ODD)
FILES = (
    "pyproject.toml", "tox.ini", "setup.cfg", "Makefile", "package.json", ".github/workflows/a.yml",
    "Cargo.toml", "a.csproj", ".ci/run",
)  # fmt: skip


@given(st.dictionaries(st.sampled_from(FILES), st.lists(PARTS, max_size=12).map("".join)))
def test_no_file_however_malformed_stops_the_search(texts: dict[str, str]):
    assert isinstance(find_candidates(configuration(texts)), tuple)


def test_the_commands_are_bounded():
    lines = "".join(f"  - run: pytest -n {number}\n" for number in range(500))
    found = find_candidates(ProjectConfiguration((), {".github/workflows/a.yml": f"jobs:\n a:\n  steps:\n{lines}"}))
    assert len(found) <= 24


def test_a_target_that_no_other_command_is_known_for_is_run_as_a_whole():
    makefile = "check: all\n\tjavac -d out $(wildcard src/*.java)\n\tjava -cp out Tests\n"
    assert commands({"Makefile": makefile}) == ["make check"]
    assert commands({"Makefile": "test:\n\tpytest -q\n"}) == ["pytest -q"], "the command itself says more"
    assert commands({"Makefile": "test:\n\ttouch ../made; pytest\n"}) == [], "a refused line is not run by way of its target"
    deployed = {"Makefile": "test:\n\t./run-it\n\tdocker push image\n"}
    assert commands(deployed) == [] and refused(deployed) == {"make test": "its recipe also runs 'docker'"}
