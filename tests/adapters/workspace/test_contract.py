import pytest

from afresh.adapters.workspace.worktree import GitWorkspace
from afresh.testing.workspace_contract import Stage, WorkspaceContract


class TestGitWorkspace(WorkspaceContract):
    @pytest.fixture
    def stage(self, workspace: GitWorkspace) -> Stage:
        return Stage(workspace, workspace.root, workspace.repository.root)
