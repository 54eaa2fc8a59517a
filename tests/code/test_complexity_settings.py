import pytest

from afresh.code.complexity_settings import explain_exempt_function
from afresh.code.config_files import ProjectConfiguration

IGNORED = "the project ignores C901 here"
FLAKE8_FILES = "[flake8]\nper-file-ignores =\n    src/*: E501, C901\n    other/x.py:F401\n"


@pytest.mark.parametrize(
    ("name", "text", "reason"),
    [
        ("pyproject.toml", "[tool.ruff.lint]\nignore = ['C901']\n", IGNORED),
        ("pyproject.toml", "[tool.ruff]\nextend-ignore = ['C90']\n", IGNORED),
        ("ruff.toml", "[lint.per-file-ignores]\n'src/*' = ['C901']\n", IGNORED),
        ("ruff.toml", "[lint.per-file-ignores]\n'a.py' = ['C']\n", IGNORED),
        ("ruff.toml", "[lint.per-file-ignores]\n'b.py' = ['C901']\n", ""),
        ("ruff.toml", "[lint.per-file-ignores]\n'!src/*' = ['C901']\n", ""),
        ("pyproject.toml", "[tool.ruff.lint]\nignore = ['COM812', 'E501']\n", ""),
        ("setup.cfg", "[flake8]\nextend_ignore = E203,C901\n", IGNORED),
        (".flake8", FLAKE8_FILES, IGNORED),
        (".flake8", FLAKE8_FILES.replace("src/*", "lib/*"), ""),
        ("tox.ini", "[flake8]\nmax-complexity = 15\n", "within the project's own limit of 15"),
        ("tox.ini", "[flake8]\nmax-complexity = 11\n", ""),
        ("pyproject.toml", "[tool.ruff.lint.mccabe]\nmax-complexity = 12\n", "within the project's own limit of 12"),
        ("pyproject.toml", "[tool.ruff.lint.mccabe]\nmax-complexity = 5\n", ""),
        ("pyproject.toml", "not toml", ""),
    ],
)
def test_the_projects_settings_say_what_may_be_complex(name: str, text: str, reason: str) -> None:
    assert explain_exempt_function(ProjectConfiguration((), {name: text}), "src/a.py", 12) == reason
