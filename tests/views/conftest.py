from pathlib import Path

import pytest
from view_folder import ViewFolder


@pytest.fixture
def views(tmp_path: Path) -> ViewFolder:
    return ViewFolder(tmp_path / "state")
