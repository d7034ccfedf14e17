"""What holds for all tests."""

from __future__ import annotations

import signal

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # A shell that starts the tests in the background has SIGINT ignored, and every process they start would inherit it.
    signal.signal(signal.SIGINT, signal.default_int_handler)
