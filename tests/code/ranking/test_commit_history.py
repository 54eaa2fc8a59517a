from afresh.code.caches import LazyMapping
from afresh.code.index.code_index import build_code_index
from afresh.code.ranking.commit_history import churn_from_history
from afresh.core.commit import CommitFiles, CommitHistory, FileChurn
from support.fakes import DictFiles


def test_commits_are_counted_and_the_last_is_told_only_when_asked_for():
    asked: list[int] = []

    def told() -> CommitHistory:
        asked.append(1)
        return CommitHistory("h", (CommitFiles("two", ("a.py", "b.py"), 20.0), CommitFiles("one", ("a.py",), 10.0)))

    code = build_code_index(DictFiles(**{"a.py": "", "c.py": ""}), churn=LazyMapping(lambda: churn_from_history(told())))
    assert not asked
    assert code.churn("a.py") == FileChurn(2, 20.0)
    assert code.churn("c.py") == FileChurn()
    assert asked == [1]
