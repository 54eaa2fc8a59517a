from afresh.domain.code import Churn
from afresh.domain.history import Commit, History
from afresh.insight.churn import Churned
from afresh.insight.code import code_of
from afresh.testing.files import DictFiles


def test_commits_are_counted_and_the_last_is_told_only_when_asked_for():
    asked: list[int] = []

    def told() -> History:
        asked.append(1)
        return History("h", (Commit("two", ("a.py", "b.py"), 20.0), Commit("one", ("a.py",), 10.0)))

    code = code_of(DictFiles(**{"a.py": "", "c.py": ""}), churn=Churned(told))
    assert not asked
    assert code.churn("a.py") == Churn(2, 20.0)
    assert code.churn("c.py") == Churn()
    assert asked == [1]
