"""A bare walk that asks the state of every file."""

import os
import sys

from measured import measured


def walked(root: str) -> int:
    count, waiting = 0, [root]
    while waiting:
        with os.scandir(waiting.pop()) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    waiting.append(entry.path)
                else:
                    entry.stat(follow_symlinks=False)
                    count += 1
    return count


if __name__ == "__main__":
    measured(lambda: walked(sys.argv[1]))
