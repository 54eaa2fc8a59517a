"""Stand-alone: what the reporters of all runners share: keys, the state of the runner's own code, and how a report is written.

It is loaded before any code of the tree, and keeps the functions that it needs, so that nothing that is patched later is called.
Imports nothing of afresh, and works on any Python 3.
"""

import os
import sys
import types

REPORTS = os.environ.get("AFRESH_REPORTS", "")
TREE = os.environ.get("AFRESH_TREE", "")
RUNNER_MODULES = ("pytest", "_pytest", "pluggy", "unittest")
LIBRARY_MODULES = getattr(sys, "stdlib_module_names", ("builtins", "math", "decimal"))
MAX_NAMES = 50
MAX_FOREIGN_TESTS = 200
MAX_MESSAGE_CHARACTERS = 300
MAX_SESSIONS = 16
_open = os.open
_read = os.read
_write = os.write
_close = os.close
_unlink = os.unlink
_getpid = os.getpid
FLAGS = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW


def take_keys():
    """The keys of this session and of those after it. Whoever looks for them while tests run finds nothing."""
    path = REPORTS + "/keys"
    try:
        handle = _open(path, os.O_RDONLY)
        text = _read(handle, 1 << 16)
        _close(handle)
        _unlink(path)
    except OSError:
        return []
    return text.decode().split()


def write_report(runner, keys, report):
    """One file for each session; the keys that are left are for the sessions after it."""
    number = MAX_SESSIONS - len(keys)
    _write_file(REPORTS + "/" + runner + "-" + str(number).zfill(2), keys[0] + "\n" + ascii(report))
    if keys[1:]:
        _write_file(REPORTS + "/keys", "\n".join(keys[1:]))


def _write_file(path, text):
    if os.path.lexists(path):
        _unlink(path)
    data, handle = text.encode(), _open(path, FLAGS, 0o600)
    while data:
        data = data[_write(handle, data) :]
    _close(handle)


def describe_error(kind, value):
    """One line. Its text is made by code under test, which may do anything."""
    try:
        return (kind.__name__ + ": " + str(value)).strip().splitlines()[0][:MAX_MESSAGE_CHARACTERS]
    except Exception:
        return kind.__name__


def list_functions(owner):
    """What a module names that can be called, and what the classes that it defines consist of."""
    for name, value in list(vars(owner).items()):
        if callable(value):
            yield name, value
        if isinstance(value, types.FunctionType):
            yield name + "()", value.__code__
        elif isinstance(value, type) and value.__module__ == owner.__name__:
            for member, raw_value in list(vars(value).items()):
                plain = getattr(raw_value, "__func__", getattr(raw_value, "fget", raw_value))
                if callable(plain):
                    yield name + "." + member, raw_value
                if isinstance(plain, types.FunctionType):
                    yield name + "." + member + "()", plain.__code__


def take_stock():
    """Record the functions of the runner and the standard library, by name."""
    guarded = {*RUNNER_MODULES, *LIBRARY_MODULES}
    owners = [
        module
        for name, module in list(sys.modules.items())
        if name.split(".")[0] in guarded and isinstance(module, types.ModuleType)
    ]
    return {owner.__name__ + "." + name: held for owner in owners for name, held in list_functions(owner)}


def find_altered(before):
    """What is not what it was, in the runner and in the library. A test that patches and puts back leaves nothing here."""
    now = take_stock()
    names = sorted({name.rstrip("()") for name, value in before.items() if now.get(name) is not value})
    runners = [name for name in names if is_runners(name, before.get(name))]
    return {"altered": runners[:MAX_NAMES], "library": [name for name in names if name not in runners][:MAX_NAMES]}


def is_runners(name, value):
    """Code that runs a project's programs may replace `print`, but no class of Python."""
    top = name.split(".")[0]
    return top in RUNNER_MODULES or (top == "builtins" and isinstance(value, type))


def list_loaded_modules():
    """Top-level names of what the runner has loaded from outside of the tree."""
    names = set()
    for name, module in list(sys.modules.items()):
        path = os.path.abspath(getattr(module, "__file__", None) or TREE)
        if path.startswith(sys.prefix + "/") or not (path + "/").startswith(TREE + "/"):
            names.add(name.split(".")[0])
    return sorted(names)


class Session:
    """One test session that reports: the first of its process, since a test may start others."""

    def __init__(self, runner, stock):
        self.runner, self.process = runner, _getpid()
        self.keys = take_keys()
        self.stock, self.modules = stock, list_loaded_modules()

    def write(self, report):
        if self.keys and _getpid() == self.process:
            write_report(self.runner, self.keys, report)
