"""Looks at its process group, priority, limits and mask."""
import os
import resource
import signal

print(os.nice(0), os.umask(0o22), [resource.getrlimit(getattr(resource, name)) for name in ("RLIMIT_NOFILE", "RLIMIT_STACK")])
print(os.getpgid(0) == os.getpgrp(), signal.getsignal(signal.SIGTTIN), os.getppid() > 0, os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else "")
os.setpgid(0, 0) if os.getpgrp() != os.getpid() and os.getsid(0) != os.getpid() else None
print(os.getpgrp() == os.getpid())
