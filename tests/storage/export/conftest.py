import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))  # pytest's importlib mode does not let tests share a module otherwise


@pytest.fixture(scope="module")
def projects(tmp_path_factory: pytest.TempPathFactory):
    from projects import Projects

    return Projects(tmp_path_factory.mktemp("projects"))
