"""Aborts, with faulthandler's report."""
import faulthandler
import os
import resource

resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
faulthandler.enable(all_threads=False)


def fall():
    os.abort()


fall()
