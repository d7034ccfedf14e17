"""The analysis worker: runs in the user's interpreter and answers `analyze` requests until its input ends.

Its standard output is pointed at standard error before anything is imported, so that nothing a library prints can
end up between two messages.
"""

from __future__ import annotations

import os
import platform
import sys
import traceback
from typing import IO


def main() -> int:
    requests: IO[bytes] = os.fdopen(os.dup(0), "rb")
    answers: IO[bytes] = os.fdopen(os.dup(1), "wb")
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.dup2(2, 1)
    sys.stdout = sys.stderr

    from torchsleuth.worker.wire import read, write

    where = {"executable": sys.executable, "python": platform.python_version()}
    try:
        import torch

        from torchsleuth.worker.engine import Engine
    except ImportError as error:
        reason = "PyTorch is not installed" if error.name == "torch" else f"PyTorch cannot be imported: {error}"
        write(answers, {"method": "unavailable", "params": {"reason": f"{reason} in {sys.executable}", **where}})
        return 3
    except Exception as error:
        reason = f"PyTorch cannot be imported in {sys.executable}: {error}"
        write(answers, {"method": "unavailable", "params": {"reason": reason, **where}})
        return 3
    engine = Engine()
    write(answers, {"method": "ready", "params": {"torch": torch.__version__, **where}})
    while (request := read(requests)) is not None:
        if request.get("method") == "shutdown":
            return 0
        parameters = request["params"]
        try:
            analysis = engine.analyze(
                parameters["path"],
                parameters["text"],
                parameters.get("overlay") or {},
                tuple(parameters.get("roots") or ()),
                parameters.get("verify", True),
            )
            answer = {"id": request["id"], "result": analysis.to_json()}
        except Exception:
            answer = {"id": request["id"], "error": traceback.format_exc()}
        write(answers, answer)
    return 0


if __name__ == "__main__":
    sys.exit(main())
