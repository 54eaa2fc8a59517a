"""The same question put to jedi and PyCG, each in a process of its own."""

import json
import re
import subprocess
from pathlib import Path

from calling.traced import Pair

PATIENCE = 300
"""Seconds for a peer that may never come to an end."""
JEDI = """
import ast, json, sys, time
import jedi

root, files = sys.argv[1], json.loads(sys.stdin.read())
project = jedi.Project(root, added_sys_path=[sys.argv[2]], smart_sys_path=True)
pairs, started = set(), time.process_time()


def full(name):
    parts, each = [name.name], name.parent()
    while each is not None and each.type in ("function", "class"):
        parts.append(each.name)
        each = each.parent()
    return ".".join(reversed(parts))


def scopes(node, around, found):
    for child in ast.iter_child_nodes(node):
        if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            for each in child.decorator_list:
                scopes(ast.Expression(each), around, found)
                if not isinstance(each, ast.Call):
                    found.append((each, around))
            scopes(child, around + [child.name], found)
            continue
        if isinstance(child, ast.Call):
            found.append((child.func, around))
            found.extend((each, around) for each in child.args if isinstance(each, (ast.Name, ast.Attribute)))
        scopes(child, around, found)


for path in files:
    source = open(f"{root}/{path}", encoding="utf-8").read()
    script = jedi.Script(source, path=f"{root}/{path}", project=project)
    found = []
    scopes(ast.parse(source), [], found)
    for node, around in found:
        if not isinstance(node, (ast.Name, ast.Attribute)):
            continue
        column = len(source.splitlines()[node.end_lineno - 1].encode()[: node.end_col_offset].decode()) - 1
        try:
            names = script.goto(node.end_lineno, column, follow_imports=True)
            names += [each for each in script.infer(node.end_lineno, column) if each not in names]
        except Exception:
            continue
        for name in names:
            if not str(name.module_path).startswith(root + "/") or name.type not in ("function", "class"):
                continue
            there = str(name.module_path)[len(root) + 1 :]
            try:
                called = full(name)
            except Exception:
                continue
            pairs.add((path, ".".join(around), there, called))
            if name.type == "class":
                pairs.add((path, ".".join(around), there, called + ".__init__"))
json.dump({"pairs": sorted(pairs), "seconds": time.process_time() - started}, sys.stdout)
"""


def jedis(root: Path, inner: str, files: list[str], python: str) -> tuple[set[Pair], float]:
    command = [python, "-c", JEDI, str(root), str((root / inner).parent)]
    done = subprocess.run(command, input=json.dumps(files), capture_output=True, text=True, check=True)
    answer = json.loads(done.stdout)
    return {tuple(pair) for pair in answer["pairs"]}, answer["seconds"]


def pycgs(root: Path, inner: str, files: list[str], python: str) -> tuple[set[Pair], float]:
    """PyCG names by modules, those of relative imports without their package; its calls of a class are calls of `__init__`. It is
    installed under a name that it does not import itself by."""
    above = (root / inner).parent
    within = [path for path in files if path.startswith(f"{inner}/")]
    script = (
        "import json, sys, time\nimport PyCG\nsys.modules['pycg'] = PyCG\n"
        "from pycg.pycg import CallGraphGenerator\nstarted = time.process_time()\n"
        "made = CallGraphGenerator(sys.argv[2:], sys.argv[1], -1, 'call-graph')\nmade.analyze()\n"
        "graph = {k: sorted(v) for k, v in made.output().items()}\n"
        "json.dump({'graph': graph, 'seconds': time.process_time() - started}, sys.stdout)"
    )
    paths = [str(root / path) for path in within]
    done = subprocess.run([python, "-c", script, str(above), *paths], capture_output=True, text=True, cwd=above, timeout=PATIENCE)
    if done.returncode:
        raise RuntimeError((done.stderr.strip().splitlines() or ["failed"])[-1][:160])
    answer = json.loads(done.stdout)
    modules = {str((root / path).relative_to(above))[:-3].replace("/", ".").removesuffix(".__init__"): path for path in within}
    modules |= {name.partition(".")[2]: path for name, path in modules.items() if "." in name}

    def named(name: str) -> tuple[str, str] | None:
        parts = name.split(".")
        for at in range(len(parts), 0, -1):
            if (module := ".".join(parts[:at])) in modules:
                return modules[module], re.sub(r"\.?<lambda\d*>", "", ".".join(parts[at:]))
        return None

    edges = ((named(caller), named(called)) for caller, many in answer["graph"].items() for called in many)
    return {(*caller, *called) for caller, called in edges if caller and called}, answer["seconds"]
