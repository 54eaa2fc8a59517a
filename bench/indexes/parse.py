"""Every Python file read and parsed by tree-sitter, the trees thrown away."""

import os
import sys

import tree_sitter
import tree_sitter_python
from measured import measured

PARSER = tree_sitter.Parser(tree_sitter.Language(tree_sitter_python.language()))


def parsed(root: str) -> int:
    count = 0
    for folder, _, names in os.walk(root):
        for name in names:
            if name.endswith(".py"):
                with open(os.path.join(folder, name), "rb") as file:
                    PARSER.parse(file.read())
                count += 1
    return count


if __name__ == "__main__":
    measured(lambda: parsed(sys.argv[1]))
