"""What this server adds to LSP: commands, notifications and settings, by name.

Started by ``python -m torchsleuth.lsp`` (or ``torchsleuth server``); speaks over standard input and output.

Settings
    Sent as ``initializationOptions`` and, when they change, as ``workspace/didChangeConfiguration`` with
    ``{"settings": {"torchsleuth": {…}}}``. All keys are optional; unknown ones are ignored.

    ==================  ===============================================================================================
    ``interpreter``     Path of the Python whose torch is asked, and which runs scripts. Default: the server's own.
    ``trusted``         False: no interpreter is started, nothing is analysed or run, only syntax-level features
                        answer. Default: true.
    ``trace``           ``"off"`` or ``"verbose"``: how much the server writes to standard error. Default: off.
    ==================  ===============================================================================================

    When ``interpreter`` or ``trusted`` changes the worker is replaced and all open documents are analysed again.

Commands (``workspace/executeCommand``)
    The ids are the server's; the client's own commands have other ids (without ``.server``). A client that registers
    the advertised commands, as vscode-languageclient does, needs nothing more for the code lens to work.

    ``torchsleuth.server.runAndDiagnose`` ``[uri, {"args": [string…], "cwd": string}?]``
        Runs the file under instrumentation and answers at once with ``{"runId": string}``, or with
        ``{"error": string}`` where it cannot be started (not trusted, no such file, another run in progress). The
        file on disk is what runs: save the documents first. Its output comes as ``torchsleuth/runOutput``.
    ``torchsleuth.server.stopRun`` ``[]``
        Ends the run and all its processes. Answers true where there was one.
    ``torchsleuth.server.clearResults`` ``[uri?]``
        Forgets what runs found: of this script, or of all.
    ``torchsleuth.server.restartWorker`` ``[]``
        Replaces the analysis worker (after installing torch, say) and analyses all open documents again.

Notifications from server to client
    ``torchsleuth/status`` ``{"state": string, "detail": string}``
        State of the analysis worker, for a status item: ``starting``, ``ready``, ``busy``, ``restarting``,
        ``unavailable`` (`detail` says why), ``untrusted``, ``stopped``.
    ``torchsleuth/runStarted`` ``{"runId", "uri", "command": [string…]}``
    ``torchsleuth/runOutput`` ``{"runId", "stream": "stdout" | "stderr", "text"}``
        Output of the script, in order, as it comes; carries no line-ending conversion.
    ``torchsleuth/runFinished`` ``{"runId", "uri", "exitCode": int | null, "state", "summary", "diagnostics": int}``
        `state`: ``finished``, ``crashed`` (an exception or a signal), ``cancelled``, ``failed`` (could not be started).

Diagnostics
    ``source`` is ``TorchSleuth``, ``code`` the rule, ``codeDescription.href`` its page, and ``data`` is
    ``{"layer": "static" | "run", "name": string, "fixes": [Fix…]}`` with fixes in the shape of the machine interface
    (1-based lines and columns, columns in code points). Severity ``hint`` is published as Information.

Progress
    The first analysis and each run report ``$/progress``; both can be cancelled (``window/workDoneProgress/cancel``).
"""

from __future__ import annotations

RUN_AND_DIAGNOSE = "torchsleuth.server.runAndDiagnose"
STOP_RUN = "torchsleuth.server.stopRun"
CLEAR_RESULTS = "torchsleuth.server.clearResults"
RESTART_WORKER = "torchsleuth.server.restartWorker"

STATUS = "torchsleuth/status"
RUN_STARTED = "torchsleuth/runStarted"
RUN_OUTPUT = "torchsleuth/runOutput"
RUN_FINISHED = "torchsleuth/runFinished"

SOURCE = "TorchSleuth"
RULE_PAGE = "https://github.com/torchsleuth/torchsleuth/blob/main/docs/rules/{code}.md"
SECTION = "torchsleuth"
"""Key of the settings inside ``workspace/didChangeConfiguration``."""
