import pytest

from afresh.testing.workspace_contract import WorkspaceContract, WorkspaceStage
from afresh.workspace.worktree import GitWorkspace


class TestGitWorkspace(WorkspaceContract):
    @pytest.fixture
    def stage(self, workspace: GitWorkspace) -> WorkspaceStage:
        return WorkspaceStage(workspace, workspace.root, workspace.repository.root)
