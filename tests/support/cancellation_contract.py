"""What every Cancellation must do. Subclass it and give it a `cancellation` of a worker that may go on, and `cancel`."""

from abc import ABC, abstractmethod

import pytest

from afresh.errors import TryAgain
from afresh.runtime import Cancellation


class CancellationContract(ABC):
    """Fixture `cancellation` is to be given by the subclass."""

    @abstractmethod
    def cancel(self, cancellation: Cancellation) -> None:
        """Make happen what ends the worker's run: another worker takes the task, the process gets a signal …"""

    def test_a_worker_that_may_go_on_is_not_stopped(self, cancellation: Cancellation) -> None:
        for _ in range(3):
            cancellation.check()

    def test_a_cancelled_worker_is_stopped_and_told_why(self, cancellation: Cancellation) -> None:
        assert self._stop(cancellation)

    def test_a_worker_that_was_cancelled_after_a_check_is_stopped_at_the_next(self, cancellation: Cancellation) -> None:
        cancellation.check()
        assert self._stop(cancellation)

    def test_a_cancelled_worker_stays_cancelled(self, cancellation: Cancellation) -> None:
        why = self._stop(cancellation)
        for _ in range(2):
            with pytest.raises(TryAgain) as caught:
                cancellation.check()
            assert str(caught.value) == why

    def _stop(self, cancellation: Cancellation) -> str:
        """Cancel, and return why the worker must stop. The error is a TryAgain: the task can be continued."""
        self.cancel(cancellation)
        with pytest.raises(TryAgain) as caught:
            cancellation.check()
        return str(caught.value)
