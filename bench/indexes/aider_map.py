"""aider's map of a repository: tags of all files from its cache or anew, ranked and rendered. With `tags`, the tags alone."""

import os
import sys
from contextlib import redirect_stderr

from aider.repomap import RepoMap
from measured import measured


class Silent:
    """What its map needs of a terminal."""

    def read_text(self, name):
        with open(name, encoding="utf-8", errors="replace") as file:
            return file.read()

    def tool_output(self, *said, **how):
        pass

    tool_warning = tool_error = tool_output


class Model:
    def token_count(self, text):
        return len(text) // 4


def python_files(root):
    for folder, folders, names in os.walk(root):
        folders[:] = [name for name in folders if not name.startswith(".")]
        yield from (os.path.join(folder, name) for name in names if name.endswith(".py"))


def mapped(root, tags_only):
    files = sorted(python_files(root))
    maker = RepoMap(map_tokens=1024, root=root, main_model=Model(), io=Silent(), max_context_window=128_000)
    if tags_only:
        for name in files:
            maker.get_tags(name, os.path.relpath(name, root))
    else:
        maker.get_repo_map([], files)
    return len(files)


if __name__ == "__main__":
    with open(os.devnull, "w") as nowhere, redirect_stderr(nowhere):
        measured(lambda: mapped(sys.argv[1], sys.argv[3:] == ["tags"]))
