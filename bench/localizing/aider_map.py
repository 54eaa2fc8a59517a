"""Aider's map of a repository for a message, with no file in its chat: the files in the order in which its ranked tags name them.
What the message mentions is found by aider's own functions, as its coder does before it makes a map."""

import os
import sys
from pathlib import Path
from types import SimpleNamespace

from aider.coders.base_coder import Coder
from aider.repomap import RepoMap


class Quiet:
    """What the map needs of aider's console."""

    def read_text(self, name: str) -> str:
        return Path(name).read_bytes().decode(errors="replace")

    def tool_output(self, *said: str) -> None: ...
    def tool_warning(self, *said: str) -> None: ...
    def tool_error(self, *said: str) -> None:
        print(*said, file=sys.stderr)


class Contestant:
    package = "aider-chat"

    def __init__(self, folder: Path) -> None:
        os.chdir(folder)
        self.folder, self.paths = folder, set[str]()
        self.map = RepoMap(root=str(folder), io=Quiet())

    def moved(self, changed: list[str], gone: list[str]) -> None:
        self.paths = (self.paths | set(changed)) - set(gone)

    def rank(self, text: str) -> list[str]:
        # a coder needs a model and a console; these functions need only the names of the files
        coder = SimpleNamespace(get_addable_relative_files=lambda: self.paths, get_all_relative_files=lambda: self.paths,
                                get_inchat_relative_files=lambda: [], abs_read_only_fnames=[])  # fmt: skip
        idents = Coder.get_ident_mentions(coder, text)
        files = Coder.get_file_mentions(coder, text) | Coder.get_ident_filename_matches(coder, idents)
        others = [str(self.folder / path) for path in self.paths]
        tags = self.map.get_ranked_tags([], others, files, idents)
        return list(dict.fromkeys(tag[0] for tag in tags if tag[0] in self.paths))
