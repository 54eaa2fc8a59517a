"""The clock on the wall."""

import time


class SystemClock:
    def now(self) -> float:
        return round(time.time(), 3)
