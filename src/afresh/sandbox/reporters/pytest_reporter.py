"""Stand-alone: tells afresh what became of each test of a pytest session. PYTEST_DONT_REWRITE

What a test came to is taken from the exception itself, not only from pytest's report of it; a test must be the code of its file;
and pytest's own functions must be at the end what they were at the start. The report is written when the session has ended: one
that dies before has none. Imports nothing of afresh, and works with pytest 6 to 9.
"""

import os
import sys
import types
import unittest

import _pytest.assertion.rewrite as rewrite
import _pytest.config
import _pytest.outcomes
import pytest
import reporter_session  # pyright: ignore[reportMissingImports]

RANK = {"passed": 0, "skipped": 1, "failed": 2, "error": 3}
SKIPS = (_pytest.outcomes.Skipped, unittest.SkipTest, _pytest.outcomes.XFailed)
DEFAULT_PLUGINS = _pytest.config.default_plugins
CODES = []
"""Code of the test files, as pytest has compiled it."""


def attach_to_pytest():
    """Make it one of the plugins that pytest loads by itself, in this process and in workers."""
    _pytest.config.default_plugins = (*DEFAULT_PLUGINS, __name__)
    compiled, cached = rewrite._rewrite_test, rewrite._read_pyc

    def note_compiled(*args):
        made = compiled(*args)
        CODES.append(made[1])
        return made

    def note_cached(*args):
        code = cached(*args)
        CODES.extend([] if code is None else [code])
        return code

    rewrite._rewrite_test, rewrite._read_pyc = note_compiled, note_cached


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config):
    """All plugins are loaded, and nothing else of the tree. Sessions that tests start in this process do not report."""
    _pytest.config.default_plugins = DEFAULT_PLUGINS
    sys.modules.pop(__name__, None)
    if not getattr(early_config.known_args_namespace, "collectonly", False):
        early_config.pluginmanager.register(Recorder(early_config), "afresh-recorder")


def classify_error(excinfo):
    """The outcome that an exception means, whatever marks and hooks make of it."""
    if excinfo is None:
        return "passed"
    return "skipped" if issubclass(excinfo.type, SKIPS) else "failed"


def describe_plugin(plugin):
    if isinstance(plugin, types.ModuleType):
        return plugin.__name__
    kind = plugin if isinstance(plugin, type) else type(plugin)
    return kind.__module__ + "." + kind.__qualname__


def is_conftest(plugin):
    return os.path.basename(getattr(plugin, "__file__", None) or "") == "conftest.py"


def list_hooks(manager):
    """What runs and reports a test, and how many plugins do: a list may have been emptied."""
    for name, hook in vars(manager.hook).items():
        if name.startswith(("pytest_runtest", "pytest_pyfunc")):
            count = len([hookimpl for hookimpl in hook.get_hookimpls() if not is_conftest(hookimpl.plugin)])
            yield f"{name} of {count}"


def list_codes(code):
    inner = [held for held in code.co_consts if isinstance(held, types.CodeType)]
    return [id(code)] + [found for held in inner for found in list_codes(held)]


class Recorder:
    """Collects the outcomes of one session, or of one worker of it."""

    def __init__(self, config):
        self.config = config
        self.session = reporter_session.Session("pytest", reporter_session.take_stock())
        self.raw, self.told, self.messages = {}, {}, {}
        self.expected, self.collected, self.foreign = set(), set(), set()
        self.workers, self.read, self.codes = [], 0, set()

    @property
    def is_worker(self):
        """A process of xdist, which is told so only after its plugins were loaded."""
        return hasattr(self.config, "workerinput")

    def name(self, nodeid):
        """The id as pytest prints it."""
        return str(self.config.cwd_relative_nodeid(nodeid))

    def pytest_collection_finish(self, session):
        self.collected = {self.name(item.nodeid) for item in session.items}
        for item in session.items:
            self.check_code(item)

    def check_code(self, item):
        """Another function may have been put in its place after its file was loaded."""
        while self.read < len(CODES):
            self.codes.update(list_codes(CODES[self.read]))
            self.read += 1
        function = getattr(item, "function", None)
        while hasattr(function, "__wrapped__"):
            function = getattr(function, "__wrapped__")  # noqa: B009
        code = getattr(function, "__code__", None)
        if code is not None and ("runtest" in vars(item) or id(code) not in self.codes):
            self.foreign.add(self.name(item.nodeid))

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_call(self, item):
        self.check_code(item)

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_makereport(self, item, call):
        error = call.excinfo or next(iter(getattr(item, "_excinfo", None) or ()), None)  # of unittest's cases
        name, came_to = self.name(item.nodeid), classify_error(error)
        self.raw.setdefault(name, {})[call.when] = came_to
        if error is not None and came_to == "failed":
            self.messages[name] = reporter_session.describe_error(error.type, error.value)
        if next(item.iter_markers("xfail"), None) is not None:
            self.expected.add(name)
        yield

    def pytest_runtest_logreport(self, report):
        name, value = self.name(report.nodeid), report.outcome
        if value == "rerun":
            self.raw.pop(name, None)
            self.told.pop(name, None)
        if value == "failed" and report.when != "call":
            value = "error"
        if value == "passed" and report.when != "call":
            return  # a test that ends the run has begun, and no more
        if value == "passed" and hasattr(report, "wasxfail"):
            value = "skipped"
        if value in RANK and RANK[value] >= RANK[self.told.get(name, "passed")]:
            self.told[name] = value

    def pytest_collectreport(self, report):
        if report.failed:
            name = self.name(report.nodeid)
            self.told[name] = "error"
            self.messages[name] = str(report.longrepr).strip().rpartition("\n")[2][: reporter_session.MAX_MESSAGE_CHARACTERS]

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node):
        """A worker of xdist has ended."""
        value = getattr(node, "workeroutput", {}).get("afresh")
        self.workers += [value] if value else []

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_sessionfinish(self, session):
        if self.is_worker:  # what goes to the controller is sent by a hook within this one
            self.config.workeroutput["afresh"] = self.summarise(0)
        yield
        if not self.is_worker:
            self.session.write(self.summarise(int(session.exitstatus)))

    def summarise(self, status):
        raised = {name for name, phases in self.raw.items() if "failed" in phases.values()} - self.expected
        plugins = {
            describe_plugin(plugin) for plugin in self.config.pluginmanager.get_plugins() if plugin and not is_conftest(plugin)
        }
        names = {
            "collected": self.collected,
            **reporter_session.find_altered(self.session.stock),
            "raised": raised,
            "foreign": sorted(self.foreign)[: reporter_session.MAX_FOREIGN_TESTS],
            "plugins": plugins | set(list_hooks(self.config.pluginmanager)),
            "modules": self.session.modules,
        }
        merged = {
            kind: sorted({*value, *(name for worker in self.workers for name in worker[kind])}) for kind, value in names.items()
        }
        return dict(merged, exit=status, outcomes=self.told, messages=self.messages)
