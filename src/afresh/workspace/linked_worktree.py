"""The linked worktree: a folder, and the user's repository knowing of it."""

from pathlib import Path

from afresh.workspace.disk_files import remove_tree
from afresh.workspace.git import Git, GitFailed
from afresh.workspace.repository import Repository


def find_worktree_admin(repository: Repository, tree: Path) -> Path | None:
    """The repository's own folder for this worktree, if it has one."""
    for admin in sorted((repository.common_dir / "worktrees").glob("*")):
        try:
            pointer = (admin / "gitdir").read_text().strip()
        except OSError:
            continue
        if (admin / pointer).parent.resolve() / ".git" == tree.resolve() / ".git":
            return admin
    return None


def restore_git_pointer(tree: Path, admin: Path) -> None:
    """The tree's `.git` is a file that names `admin`, whatever stands there now."""
    pointer = tree / ".git"
    if has_git_pointer(tree, admin):
        return
    if pointer.is_dir() and not pointer.is_symlink():
        remove_tree(pointer)
    else:
        pointer.unlink(missing_ok=True)
    pointer.write_text(f"gitdir: {admin}\n")


def has_git_pointer(tree: Path, admin: Path) -> bool:
    pointer = tree / ".git"
    return not pointer.is_symlink() and pointer.is_file() and pointer.read_bytes() == f"gitdir: {admin}\n".encode()


def register_worktree(repository: Repository, tree: Path, branch: str, commit: str) -> Path:
    """A new worktree without files in it, on a branch that starts at `commit`; a former folder must be gone."""
    tree.parent.mkdir(parents=True, exist_ok=True)
    repository.git.run("update-ref", "--no-deref", "refs/heads/" + branch, commit)
    add = ("worktree", "add", "--quiet", "--no-checkout", "--force", "--force")
    repository.git.run(*add, "--", str(tree), branch)
    admin = find_worktree_admin(repository, tree)
    if admin is None:
        raise GitFailed(add, 0, "the new worktree is not listed")
    restore_git_pointer(tree, admin)
    reset_worktree_index(tree, admin, commit)
    return admin


def reset_worktree_index(tree: Path, admin: Path, commit: str) -> None:
    """Fill the worktree's own index, so that the user's `git status` and `git diff` there show what the task changed."""
    Git(admin, tree).run("read-tree", commit)


def unregister_worktree(repository: Repository, tree: Path) -> None:
    """Remove the folder and what the repository knows of it; of other worktrees nothing."""
    remove_tree(tree)
    if find_worktree_admin(repository, tree):
        repository.git.run("worktree", "remove", "--force", "--force", "--", str(tree))
