"""Names that client and server share beyond the LSP.

Start: ``python -m torchsleuth.lsp`` on standard input and output.

Initialization options: ``interpreter`` (path of the Python with the user's torch), ``trusted`` (false: no process of
the workspace is started), ``inlayHints`` (default true).

Notifications to the client:
    ``torchsleuth/status``       {state, detail}; state: starting, ready, busy, restarting, unavailable, restricted, stopped
    ``torchsleuth/runOutput``    {runId, text}: what the script printed
    ``torchsleuth/runFinished``  {runId, exitCode, cancelled, summary}
Notification to the server:
    ``torchsleuth/runInput``     {text}: for the script's standard input
Commands of the server (the client's own have other names):
    ``torchsleuth.server.runAndDiagnose`` [uri], ``torchsleuth.server.stopRun``, ``torchsleuth.server.clearResults``,
    ``torchsleuth.server.restartWorker`` [interpreter or null]
"""

STATUS = "torchsleuth/status"
RUN_OUTPUT = "torchsleuth/runOutput"
RUN_FINISHED = "torchsleuth/runFinished"
RUN_INPUT = "torchsleuth/runInput"

RUN_AND_DIAGNOSE = "torchsleuth.server.runAndDiagnose"
STOP_RUN = "torchsleuth.server.stopRun"
CLEAR_RESULTS = "torchsleuth.server.clearResults"
RESTART_WORKER = "torchsleuth.server.restartWorker"
CLIENT_RUN = "torchsleuth.runAndDiagnose"
"""The client's command behind the code lens: it saves the file first, then asks the server."""

SOURCE = "TorchSleuth"
RULE_PAGE = "https://github.com/torchsleuth/torchsleuth/blob/main/docs/rules/{code}.md"
