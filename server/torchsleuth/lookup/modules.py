"""Finds modules of the user's that lie beside the roots: ``sys.path`` changes, editable installs, namespace packages.

jedi needs seconds for its first answer. It runs in a process of its own, which ends with the answer. It only reads: the
process is isolated, it imports nothing but the standard library, jedi and parso (`wall`), and the user's interpreter is not
started; where that one looks for modules is told by the worker.
"""

from __future__ import annotations

import importlib.util
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from torchsleuth import wall
from torchsleuth.lifetime import end_with_parent
from torchsleuth.wall import environment

TIMEOUT_S = 60.0
"""Time after which a search is given up."""
_INSTALLED = re.compile(r"[\\/](?:site-packages|dist-packages|lib[\\/]python3\.\d+|typeshed|third_party)[\\/]")


@dataclass(frozen=True)
class Import:
    """An import that nothing was found for: of `name`, in line `line` of the file `path`, whose text is `text`."""

    name: str
    path: str
    line: int
    text: str


def command() -> list[str]:
    """Starts the search with this process's libraries: a request on standard input, the answer on standard output."""
    found = [importlib.util.find_spec(name) for name in ("jedi", "parso")]
    origins = [Path(spec.origin) for spec in found if spec is not None and spec.origin is not None]
    if len(origins) < len(found):
        raise ImportError("jedi")
    paths = list(dict.fromkeys(str(origin.parents[1]) for origin in origins))
    code = (
        "import json, sys; sys.path[:0] = json.loads(sys.argv[1]); from torchsleuth.lookup.modules import main; main()"
    )
    return [sys.executable, "-I", "-c", code, json.dumps([str(Path(__file__).parents[2]), *paths])]


def request(imports: Iterable[Import], search_path: Sequence[str], roots: tuple[str, ...]) -> bytes:
    """`search_path`: where the user's interpreter looks for modules."""
    asked = {"imports": [asdict(item) for item in imports], "search_path": list(search_path), "roots": roots}
    return json.dumps(asked).encode()


def folders(answer: bytes) -> tuple[str, ...]:
    """The folders that an answer names; none where it is not one."""
    try:
        found = json.loads(answer)
    except ValueError:
        return ()
    return tuple(item for item in found if isinstance(item, str)) if isinstance(found, list) else ()


def find(imports: Iterable[Import], search_path: Sequence[str], roots: tuple[str, ...]) -> tuple[str, ...]:
    """Folders that the imports start from. None of them is found where jedi is not installed or takes too long."""
    try:
        done = subprocess.run(
            command(),
            input=request(imports, search_path, roots),
            capture_output=True,
            timeout=TIMEOUT_S,
            check=False,
            env=environment(),
        )
    except (ImportError, OSError, subprocess.TimeoutExpired):
        return ()
    return folders(done.stdout)


def main() -> None:
    end_with_parent()
    asked: dict[str, Any] = json.load(sys.stdin)
    imports = [Import(**item) for item in asked["imports"]]
    _prepare()
    found = list(dict.fromkeys(_search(imports, asked["search_path"], asked["roots"])))
    json.dump(found, sys.stdout)


def _prepare() -> None:
    """Import what is needed, and close the wall behind it."""
    import jedi
    import parso.cache

    # Packages that jedi would import to look at them, and trees that were pickled by whoever may write to its cache.
    jedi.settings.auto_import_modules = []
    parso.cache._load_from_file_system = lambda *args, **kwargs: None
    parso.cache._save_to_file_system = lambda *args, **kwargs: None
    # It touches a file once a day, and on a machine where it never ran.
    parso.cache._remove_cache_and_update_lock = lambda *args, **kwargs: None
    wall.close(None)


def _search(imports: list[Import], search_path: list[str], roots: list[str]) -> Iterator[str]:
    import jedi
    from jedi.api.environment import InterpreterEnvironment

    class Environment(InterpreterEnvironment):  # type: ignore[misc]
        """This process, which looks for modules where the user's interpreter does."""

        def get_sys_path(self) -> list[str]:
            return search_path

    environment = Environment()
    for item in imports:
        root = next((root for root in roots if _is_below(item.path, root)), os.path.dirname(item.path))
        script = jedi.Script(item.text, path=item.path, environment=environment, project=jedi.Project(root))
        column = _column(item)
        if column is None:
            continue
        for definition in script.goto(item.line, column, follow_imports=True):
            folder = _folder(item.name, definition.module_path)
            if folder is not None:
                yield folder


def _column(item: Import) -> int | None:
    """Where the last part of the module's name stands in its line."""
    lines = item.text.splitlines()
    line = lines[item.line - 1] if 0 < item.line <= len(lines) else ""
    found = re.search(rf"\b{re.escape(item.name)}\b", line)
    return found.end() - 1 if found else None


def _folder(name: str, path: Path | None) -> str | None:
    """The folder in which a module's name begins; None for installed packages, which are not the user's own."""
    if path is None or _INSTALLED.search(str(path)):
        return None
    place = Path(os.path.realpath(path))
    place = place.parent if place.stem == "__init__" else place.with_suffix("")
    parts = name.split(".")
    if tuple(place.parts[-len(parts) :]) != tuple(parts):
        return None
    return str(place.parents[len(parts) - 1])


def _is_below(path: str, root: str) -> bool:
    return Path(root) in Path(path).parents


__all__ = ["TIMEOUT_S", "Import", "command", "environment", "find", "folders", "main", "request"]
