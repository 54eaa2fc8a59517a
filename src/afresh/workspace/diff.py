"""Lists the differences of two snapshots, file by file."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from afresh.core.change import Change
from afresh.workspace.git import Git, GitFailed

MAX_PATHS_IN_ARGUMENTS = 100
"""Of more paths the whole tree is listed: the kernel takes only so many bytes of arguments."""
CHANGE_KIND_BY_STATUS = {"A": "added", "D": "deleted"}
PLAIN_DIFF_OPTIONS = ("-r", "--no-renames", "--no-ext-diff", "--no-textconv", "--no-color", "--src-prefix=a/", "--dst-prefix=b/")


BINARY_PATCH_OPTIONS = ("-r", "-p", "--binary", "--full-index", "--no-renames", "--no-ext-diff", "--no-textconv", "--no-color")


def path_from_bytes(name: bytes) -> str:
    """A path as text that any journal can hold; bytes that are not UTF-8 are shown as escapes."""
    return name.decode("utf-8", "backslashreplace")


def list_changes(git: Git, before: str, after: str) -> tuple[Change, ...]:
    if before == after:
        return ()
    pair = ("--end-of-options", before, after)
    fields = git.run("diff-tree", *PLAIN_DIFF_OPTIONS, "-z", "--raw", "--numstat", *pair).split(b"\0")[:-1]
    statuses, counts = _parse_fields(fields)
    patches = _split_patches(git.run("diff-tree", *PLAIN_DIFF_OPTIONS, "--patch", *pair), [status for _, status in statuses])
    return tuple(
        Change(path_from_bytes(name), CHANGE_KIND_BY_STATUS.get(status, "modified"), added, removed, patch)
        for (name, status), (added, removed), patch in zip(statuses, counts, patches, strict=True)
    )


def read_patch(git: Git, before: str, after: str) -> bytes:
    """A patch with binary files, to the byte, with nothing run that a repository configures."""
    return git.run("diff-tree", *BINARY_PATCH_OPTIONS, "--end-of-options", before, after)


def _parse_fields(fields: Sequence[bytes]) -> tuple[list[tuple[bytes, str]], list[tuple[int, int]]]:
    """(path, status) of each raw record, and the counts of each numstat record; git lists both in the same order."""
    paired = len(fields) // 3 * 2
    statuses = [(fields[at + 1], fields[at][-1:].decode()) for at in range(0, paired, 2)]
    counts = [field.split(b"\t")[:2] for field in fields[paired:]]
    return statuses, [(_parse_count(added), _parse_count(removed)) for added, removed in counts]


def _parse_count(field: bytes) -> int:
    return 0 if field == b"-" else int(field)


def _split_patches(output: bytes, statuses: Sequence[str]) -> Iterator[str]:
    """One patch per path. Git shows a file that became a link as two patches: removed and added."""
    sections = iter(_split_sections(output))
    for status in statuses:
        text = "".join(next(sections, "") for _ in range(2 if status == "T" else 1))
        yield "" if "\nBinary files " in text else text


def _split_sections(output: bytes) -> list[str]:
    """Content lines in a diff begin with a sign, so only a header begins with these words."""
    head, *rest = output.decode("utf-8", "replace").removesuffix("\n").split("\ndiff --git ")
    return [part + "\n" for part in (head, *("diff --git " + part for part in rest))] if head else []


def read_files(git: Git, tree: str, paths: Sequence[str]) -> Mapping[str, bytes]:
    """Files of a tree by their path: of a submodule there is none. However many paths, git runs twice; a name with a line break
    or other odd bytes is found, too."""
    narrowed = paths if len(paths) <= MAX_PATHS_IN_ARGUMENTS else ()
    listed = git.run("ls-tree", "-r", "-z", "--full-tree", tree, "--", *narrowed).split(b"\0")[:-1] if paths else []
    wanted, known = frozenset(paths), dict[str, bytes]()
    for meta, name in (entry.split(b"\t", 1) for entry in listed):
        kind, blob = meta.split()[1:3]
        if kind == b"blob" and (path := path_from_bytes(name)) in wanted:
            known[path] = blob
    return dict(zip(known, read_blobs(git, known.values()), strict=True))


def read_blobs(git: Git, blobs: Iterable[bytes]) -> Iterator[bytes]:
    """The content of each blob, by one git."""
    names = list(blobs)
    rest = git.run("cat-file", "--batch", stdin=b"".join(name + b"\n" for name in names)) if names else b""
    for _ in names:
        head, _, rest = rest.partition(b"\n")
        if head.endswith(b" missing"):
            raise GitFailed(("cat-file",), 1, head.decode())
        size = int(head.split()[2])
        yield rest[:size]
        rest = rest[size + 1 :]


def search_lines(git: Git, tree: str, words: Sequence[str]) -> list[tuple[str, str]]:
    """Path and text of each line of a tree that has one of these words; binary files have none."""
    wanted = [part for word in words for part in ("-e", word)]
    try:
        output = git.run("grep", "-I", "-F", "-w", "-z", "--no-color", "--full-name", *wanted, tree) if words else b""
    except GitFailed as fault:
        if fault.code != 1:  # it found none
            raise
        output = b""
    lines = (line.split(b"\0", 1) for line in output.split(b"\n") if b"\0" in line)
    return [(path_from_bytes(name.split(b":", 1)[1]), text.decode("utf-8", "replace")) for name, text in lines]
