"""Changes its environment and its locale."""
import locale
import os
import subprocess
import time

os.environ["MINE"] = "x"
os.environ.pop("HOME", None)
os.environ["TZ"] = "Asia/Tokyo"
time.tzset()
print(time.tzname, locale.setlocale(locale.LC_ALL, "C"), locale.getpreferredencoding(False))
print(subprocess.run(["sh", "-c", "echo $MINE:$HOME"], capture_output=True, text=True).stdout, os.path.expandvars("$MINE"))
os.environ.clear()
print(len(os.environ), subprocess.run(["/usr/bin/env"], capture_output=True).stdout)
