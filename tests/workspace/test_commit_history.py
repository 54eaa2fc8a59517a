import json

from afresh.core.commit import NO_COMMIT_HISTORY, CommitFiles
from afresh.workspace.commit_history import MAX_COMMITS, read_commit_history


def told(repository, state=None):
    return read_commit_history(repository.git, repository.head, state)


def test_commits_are_told_with_their_words_and_files_the_newest_first(repository, checkout, git):
    (checkout / "pkg" / "ünï code.py").write_text("x = 1\n")
    (checkout / "keep.txt").unlink()
    git("add", "-A")
    git("commit", "-qm", "Second\n\nWith a body")
    newest, first = told(repository).commits
    assert (newest.message, newest.paths) == ("Second\n\nWith a body", ("keep.txt", "pkg/ünï code.py"))
    assert first.message == "First" and "pkg/module.py" in first.paths and first.when > 0


def test_merges_are_left_out_and_what_they_brought_is_not(repository, checkout, git):
    git("checkout", "-qb", "side")
    git("commit", "-q", "--allow-empty", "-m", "Aside")
    git("checkout", "-q", "main")
    git("commit", "-q", "--allow-empty", "-m", "Ahead")
    git("merge", "-q", "--no-ff", "-m", "Merged", "side")
    assert {past.message for past in told(repository).commits} == {"First", "Aside", "Ahead"}


def test_git_is_asked_once_for_a_commit(repository, checkout, git, tmp_path):
    first = told(repository, tmp_path)
    kept = json.loads((tmp_path / "commits.json").read_text())
    kept["commits"][0][0] = "as kept"
    (tmp_path / "commits.json").write_text(json.dumps(kept))
    assert told(repository, tmp_path).commits[0].message == "as kept"
    git("commit", "-q", "--allow-empty", "-m", "Moved on")
    assert [past.message for past in told(repository, tmp_path).commits] == ["Moved on", "First"]
    assert told(repository, tmp_path) != first


def test_what_was_kept_and_is_damaged_is_read_again(repository, tmp_path):
    for damaged in ("", "{", "[]", json.dumps({"head": repository.head, "commits": [1]})):
        (tmp_path / "commits.json").write_text(damaged)
        assert told(repository, tmp_path).commits[0].message == "First"


def test_a_message_with_our_own_separators_does_no_harm(repository, git):
    git("commit", "-q", "--allow-empty", "-m", "Odd \x1e12\x1fx\x1f signs")
    assert "First" in [past.message for past in told(repository).commits]


def test_nothing_of_the_repository_is_run(repository, checkout, git, tmp_path):
    trap = tmp_path / "trap.sh"
    trap.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n")
    trap.chmod(0o755)
    signed = git("cat-file", "commit", "HEAD").replace("\n\n", "\ngpgsig -----BEGIN PGP SIGNATURE-----\n \n x\n -----END\n\n", 1)
    (tmp_path / "signed").write_text(signed + "\n")
    git("reset", "-q", "--soft", git("hash-object", "-t", "commit", "-w", str(tmp_path / "signed")))
    git("config", "log.showSignature", "true")
    for name in ("gpg.program", "diff.external", "core.pager"):
        git("config", name, str(trap))
    assert len(told(repository).commits) == 1 and not (tmp_path / "ran").exists()


def test_without_a_commit_there_is_no_history(repository, tmp_path):
    assert read_commit_history(repository.git, "", tmp_path) is NO_COMMIT_HISTORY
    assert read_commit_history(repository.git, "0" * 40, tmp_path) is NO_COMMIT_HISTORY
    assert read_commit_history(repository.git, repository.head, tmp_path / "missing").commits[-1] == CommitFiles(
        "First", told(repository).commits[-1].paths, told(repository).commits[-1].when
    )
    assert MAX_COMMITS == 2_000
