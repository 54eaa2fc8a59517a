from pathlib import Path

import pytest
from writing_desk import Desk


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path / "state")
