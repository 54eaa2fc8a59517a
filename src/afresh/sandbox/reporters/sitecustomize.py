"""Stand-alone: the first module of every Python that a check starts. It lets nothing of the tree pass for the test runner, and
nothing of the checkout for the tree.

`python -m pytest` puts the tree first on the path: a file there named like a module that pytest imports would be loaded instead.
So pytest, when it is first asked for, is imported by a path without the tree, and with it the reporter. Then the path is as it
would have been. Where the tree is not mounted in the place of the checkout, an editable install names the checkout: it is made to
mean the tree. Imports nothing of afresh, and works on any Python 3.
"""

import builtins
import importlib
import importlib.machinery
import importlib.util
import os
import sys
import types

HERE = os.path.dirname(os.path.abspath(__file__))
TREE = os.environ.get("AFRESH_TREE", "")
CHECKOUT = [folder for folder in os.environ.get("AFRESH_CHECKOUT", "").split(":") if folder]
"""The checkout, and the environments in it; empty where the tree is in its place."""
PYTHONS_OWN = (importlib.machinery.BuiltinImporter, importlib.machinery.FrozenImporter, importlib.machinery.PathFinder)


def find_in_tree(path):
    """A path of the checkout as one of the tree. What is in its environments, or elsewhere, stays."""
    inside = [isinstance(path, str) and (path + "/").startswith(folder + "/") for folder in CHECKOUT]
    return TREE + path[len(CHECKOUT[0]) :] if inside and inside[0] and not any(inside[1:]) else path


def lead_to_tree():
    """Also by what an install has put beside the path: finders, and folders of namespaces."""
    sys.path[:] = [find_in_tree(entry) for entry in sys.path]
    sys.path_hooks.insert(0, open_folder_of_tree)
    for entry in [entry for entry in sys.path_importer_cache if find_in_tree(entry) != entry]:
        del sys.path_importer_cache[entry]
    sys.meta_path[:] = [finder if finder in PYTHONS_OWN else TreeFinder(finder) for finder in sys.meta_path]


def open_folder_of_tree(entry):
    moved = find_in_tree(entry)
    if moved == entry:
        raise ImportError(entry)
    return importlib.machinery.FileFinder.path_hook(
        (importlib.machinery.ExtensionFileLoader, importlib.machinery.EXTENSION_SUFFIXES),
        (importlib.machinery.SourceFileLoader, importlib.machinery.SOURCE_SUFFIXES),
        (importlib.machinery.SourcelessFileLoader, importlib.machinery.BYTECODE_SUFFIXES),
    )(moved)


class TreeFinder:
    """A finder that an environment has: what it finds in the checkout is taken from the tree."""

    def __init__(self, finder):
        self.finder = finder

    def __eq__(self, other):
        return other is self or other == self.finder

    def __getattr__(self, name):
        return getattr(self.finder, name)

    def find_spec(self, name, path=None, target=None):
        spec = self.finder.find_spec(name, path, target)
        origin = find_in_tree(spec.origin) if spec else None
        if not spec or not origin or origin == spec.origin:
            return spec  # folders of a namespace are opened by the hook above
        places = spec.submodule_search_locations and [os.path.dirname(origin)]
        return importlib.util.spec_from_file_location(name, origin, submodule_search_locations=places)


def is_in_tree(entry):
    """Also for the current folder. An environment that lies in the tree is mounted there from elsewhere, and not the task's."""
    path = find_in_tree(os.path.abspath(entry or "."))
    inside = path == TREE or path.startswith(TREE + "/")
    return inside and not any(path.startswith(prefix + "/") for prefix in {sys.prefix, sys.base_prefix} if prefix != TREE)


def import_outside_tree(load):
    """What `load` imports is not taken from the tree, unless it is nowhere else: in pytest's own repository."""
    whole = list(sys.path)
    sys.path[:] = [entry for entry in whole if not is_in_tree(entry)]
    try:
        return load()
    except ImportError:
        sys.path[:] = whole
        return load()
    finally:
        sys.path[:] = whole


def load_runner(name, runner):
    """The runner, and the module of this folder that reports for it."""
    importlib.import_module("unittest")
    importlib.import_module(name)
    load_file("reporter_session")
    vars(load_file(runner + "_reporter"))["attach_to_" + runner]()
    del sys.modules["reporter_session"]


def load_file(name):
    """With functions of Python of its own: code under test may replace those of all others."""
    module = sys.modules[name] = types.ModuleType(name)
    vars(module)["__builtins__"] = dict(vars(builtins))
    path = os.path.join(HERE, name + ".py")
    with open(path, encoding="utf-8") as file:
        exec(compile(file.read(), path, "exec"), vars(module))
    return module


class LoadedModule:
    """A loader of a module that is loaded already: Python would load it a second time."""

    def __init__(self, module):
        self.module, self.spec = module, module.__spec__
        make_spec = importlib.machinery.ModuleSpec
        module.__spec__ = make_spec(module.__name__, self, is_package=True)  # pyright: ignore[reportArgumentType]
        module.__spec__.submodule_search_locations = list(module.__path__)

    def create_module(self, spec):
        return self.module

    def exec_module(self, module):
        module.__spec__ = self.spec

    def __getattr__(self, name):
        return getattr(self.spec.loader, name)


class RunnerFinder:
    """Asked before the path is: at the first import of a runner it imports it safely, and its reporter with it."""

    def __init__(self):
        self.left = {"pytest", "unittest"}

    def find_spec(self, name, path=None, target=None):
        runner = "pytest" if name == "_pytest" else name
        if runner not in self.left:
            return None
        self.left.discard(runner)
        try:
            import_outside_tree(lambda: load_runner(name, runner))
        except ImportError:
            return None  # it is not installed: whoever imports it is told so
        return LoadedModule(sys.modules[name]).module.__spec__


def run_users_own():
    """A sitecustomize that the environment has, which this one hides; never the tree's."""
    spec = importlib.machinery.PathFinder.find_spec("sitecustomize")
    if spec and spec.loader:
        spec.loader.exec_module(importlib.util.module_from_spec(spec))


def guard_imports():
    sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry or ".") != HERE]
    whole = list(sys.path)
    sys.path[:] = [entry for entry in whole if not is_in_tree(entry)]
    run_users_own()
    added = [entry for entry in sys.path if entry not in whole]
    sys.path[:] = whole + added
    if CHECKOUT:
        lead_to_tree()
    if os.environ.get("AFRESH_REPORTS"):
        sys.meta_path.insert(0, RunnerFinder())


if TREE:
    guard_imports()
