"""Names that client and server share beyond the LSP.

Start: ``python -m torchsleuth.lsp`` (or ``torchsleuth server``) on standard input and output. Positions are in the first
encoding that the client offers, UTF-16 if it offers none.

Settings, as initialization options and as ``workspace/didChangeConfiguration`` with ``{"settings": {"torchsleuth": {…}}}``;
all optional, unknown keys are ignored. A client that answers ``workspace/configuration`` is asked for the section
``torchsleuth`` of each workspace folder and of files in none, at the start and after each ``didChangeConfiguration``: what it
says of a folder counts there, put over the others:
    ``interpreter``  path of the Python whose torch is asked, and which runs scripts; default: the server's own
    ``trusted``      false: no interpreter of the workspace is started, only syntax is looked at, nothing is run; default true
    ``inlayHints``   default true
    ``contracts``    whether the contracts of classes and functions are inferred, when nothing else is to be done; default true
    ``contractLenses``  whether they stand above these as code lenses; default false
    ``runCommand``   the client's own command behind the code lens, [uri], which saves the file and shows the output; default: the
                     server's, which says with ``window/showMessage`` how the run went
    ``trace``        "verbose" makes the server log what it does to standard error; default "off"
    ``select``, ``extendSelect``, ``ignore``, ``exclude``   lists, ``severity`` an object: as in ``[tool.torchsleuth]`` of the
                     pyproject.toml above a document, which they are put over; `select` null: what the file says
    ``configuration``  path of the pyproject.toml that counts for all documents; default: the one above each
A change of those, or of a pyproject.toml, analyses all open documents again. Where the client watches files for servers, it
is asked to. There is a worker for each interpreter that open documents need; a change of settings starts another one only
where the interpreter is another. Until PyTorch is imported, where there is none, and in a workspace that is not trusted,
the rules that need only syntax are asked, in a process of the server's own Python.

Commands of the server (the client's own have other names):
    ``torchsleuth.server.runAndDiagnose`` [uri, {"args": [string…] | string, "cwd": string, "env": {name: string | null},
            "module": string}?]
        Runs the file on disk (save it first) under instrumentation, and answers when it has ended:
        `module`: the name of a module that runs instead, in the workspace folder that holds the file. The answer is
        {ok, summary, runId?, exitCode?, cancelled?, failure?, verdict?}; `ok` false: it was not run, `summary` says why. `args` as one string
        are split as a shell does. `failure`: {number, uri, cell?, range, message, fix?}, what it showed; `fix`: the title of the fix that
        is offered first; `cell`: the number of the code cell of a notebook that the range is in, empty ones not counted.
        `verdict`: how a training went, or where it crashed, in a sentence; null for what trained nothing and did not crash.
    ``torchsleuth.server.probe`` [uri, kind, options?]   asks a question about a script in the same way, as ``torchsleuth probe`` does,
        which runs it as often as it takes. The answer has `outcome` ("passed", "found", "impossible") besides; what a crash showed is
        in `failure`; the report shows the answer, and what it says beyond `summary` is output.
    ``torchsleuth.server.report`` []               {title, html}: the report of the last run as one page, with a policy of its own, that posts
        {"open": {path, line, column}}, or {"probe": kind}, to an editor that shows it; null before the first run
    ``torchsleuth.server.applyFix`` [number]       makes the fix of a failure that is offered first; true where it was made
    ``torchsleuth.server.stopRun`` []              ends the run and all its processes; true where there was one
    ``torchsleuth.server.clearResults`` [uri?]     forgets what runs found, of one script or of all
    ``torchsleuth.server.restartWorker`` [interpreter or null]  a new worker, after installing torch, say
    ``torchsleuth.server.showFixed`` [uri, range]  has the client show a file that a fix has changed

Notifications to the client:
    ``torchsleuth/status``       {state, detail, reason?, interpreter?}; state: starting, ready, busy, restarting, unavailable, restricted, stopped
    ``torchsleuth/runOutput``    {runId, text}: what the script printed, in order, as it printed it
    ``torchsleuth/runFinished``  {runId, uri, exitCode, cancelled, summary}
    ``torchsleuth/marksChanged`` {uri}: what runs left beside the lines of a file is to be asked for again
Request to the server:
    ``torchsleuth/marks``        {uri} → {version, marks: [{kind, range, text, details, stale}]}, for an open document; kind: failed,
                                 called (a call that led there), value. `text` goes behind the line, `details`, Markdown, into its hover
Notification to the server:
    ``torchsleuth/runInput``     {text}: for the script's standard input

Diagnostics carry `data` {layer: "static" | "run", name, note?: true}; a note stands in another file than what it is about.
Fixes come as code actions. They are published when something that is seen has changed, and once for each version of a
document if the client minds those. Severity "hint" is published as Information, as notes are. The first analysis and each run report work-done progress that can be cancelled.
"""

STATUS = "torchsleuth/status"
RUN_OUTPUT = "torchsleuth/runOutput"
RUN_FINISHED = "torchsleuth/runFinished"
MARKS_CHANGED = "torchsleuth/marksChanged"
MARKS = "torchsleuth/marks"
RUN_INPUT = "torchsleuth/runInput"

RUN_AND_DIAGNOSE = "torchsleuth.server.runAndDiagnose"
PROBE = "torchsleuth.server.probe"
APPLY_FIX = "torchsleuth.server.applyFix"
REPORT = "torchsleuth.server.report"
STOP_RUN = "torchsleuth.server.stopRun"
CLEAR_RESULTS = "torchsleuth.server.clearResults"
RESTART_WORKER = "torchsleuth.server.restartWorker"
SHOW_FIXED = "torchsleuth.server.showFixed"

SECTION = "torchsleuth"
"""Key of the settings inside ``workspace/didChangeConfiguration``."""
SOURCE = "TorchSleuth"
RULE_PAGE = "https://github.com/torchsleuth/torchsleuth/blob/main/docs/rules/{code}.md"
