"""Which libraries something in a Python installation needs and nothing brings: `libraries.py FOLDER`, inside an image, on its own Python.

What the loader resolves by itself is asked from `ldd`. A library that it does not find counts as there if a file of that name is in the
folder: a package loads it before those that need it, as torch does with CUDA's. What Python code loads by name is read from its source:
every constant that reaches `find_library`, `CDLL`, `LoadLibrary`, `dlopen` or `load_library`.
"""

import ast
import ctypes
import ctypes.util
import json
import os
import subprocess
import sys
from pathlib import Path

LOADERS = {"find_library", "CDLL", "LoadLibrary", "dlopen", "load_library"}
OTHER_SYSTEMS = (".dll", ".dylib")
NOT_RUN = {"tests", "_examples", "win32"}  # parts of packages that no server imports


def objects(root):
    """The ELF files under a folder: shared objects and programs."""
    for folder, _, names in os.walk(root):
        for name in names:
            path = Path(folder, name)
            if path.is_file() and not path.is_symlink():
                with path.open("rb") as file:
                    if file.read(4) == b"\x7fELF":
                        yield path


def needed(root):
    """Libraries that the loader does not find and no file of the folder is, each with the first file that needs it."""
    paths = sorted(objects(root))
    present = {path.name for folder, _, names in os.walk(root) for path in map(Path, names)}
    missing = {}
    for path in paths:
        told = subprocess.run(["ldd", path], capture_output=True, text=True, check=False).stdout
        for line in told.splitlines():
            name = line.split("=>")[0].strip()
            if line.endswith("not found") and "=>" in line and name not in present:
                missing.setdefault(name, str(path.relative_to(root)))
    return missing


def named(source):
    """The library names that Python code loads; those of a variable are all constants that the module gives it."""
    tree = ast.parse(source)
    given = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign):
            targets, value = node.targets, node.value
        elif isinstance(node, ast.For):
            targets, value = [node.target], node.iter
        else:
            continue
        for target in targets:
            if isinstance(target, ast.Name):
                given.setdefault(target.id, []).append(value)
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and getattr(node.func, "attr", getattr(node.func, "id", "")) in LOADERS and node.args:
            first = node.args[0]
            for value in given.get(first.id, []) if isinstance(first, ast.Name) else [first]:
                found |= _constants(value)
    return found


def _constants(value):
    """The strings that an expression is, or is chosen from; not those that it computes one from."""
    if isinstance(value, ast.Constant):
        return {value.value} if isinstance(value.value, str) else set()
    if isinstance(value, ast.IfExp):
        return _constants(value.body) | _constants(value.orelse)
    if isinstance(value, ast.BoolOp):
        return set().union(*map(_constants, value.values))
    if isinstance(value, ast.List | ast.Tuple):
        return set().union(*map(_constants, value.elts))
    return set()


def loads(name):
    """Whether a name, as `find_library` or the loader takes it, leads to a library."""
    if "." not in name:
        return ctypes.util.find_library(name) is not None
    try:
        ctypes.CDLL(name)
    except OSError:
        return False
    return True


def by_name(root):
    """Libraries that Python code loads by name and that are not there, each with the first file that does."""
    present = {name for _, _, names in os.walk(root) for name in names}
    missing = {}
    for path in sorted(root.rglob("*.py")):
        if NOT_RUN & set(path.parts):
            continue
        text = path.read_text(errors="replace")
        if not any(loader in text for loader in LOADERS):
            continue
        try:
            names = named(text)
        except SyntaxError:  # templates of code, which nothing imports
            continue
        for name in names:
            if not name.endswith(OTHER_SYSTEMS) and Path(name).name not in present and not loads(name):
                missing.setdefault(name, str(path.relative_to(root)))
    return missing


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    print(json.dumps({"needed": needed(folder), "by_name": by_name(folder)}))
