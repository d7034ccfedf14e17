"""What holds for all tests."""

from __future__ import annotations

import os
import signal
import tempfile

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # A shell that starts the tests in the background has SIGINT ignored, and every process they start would inherit it.
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Workers that the tests start remember what they found out, but not for the user who runs the tests.
for name in ("XDG_CACHE_HOME", "LOCALAPPDATA"):
    os.environ[name] = os.path.join(
        tempfile.gettempdir(), f"torchsleuth-tests-{os.getuid() if hasattr(os, 'getuid') else 0}"
    )
