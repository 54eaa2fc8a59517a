"""What a contestant spends on its one task, told as a line of JSON: time of the processor and of the clock after its imports are
done, and the most memory that its process ever had."""

import json
import resource
import time
from collections.abc import Callable


def measured(task: Callable[[], int]) -> None:
    """The task says how many files it dealt with."""
    clock, processor = time.perf_counter(), _processor()
    files = task()
    spent = {"cpu": _processor() - processor, "wall": time.perf_counter() - clock, "files": files}
    print(json.dumps({**spent, "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024}))


def _processor() -> float:
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime
