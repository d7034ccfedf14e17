"""Starts programs, itself too, and looks at what they get."""
import os
import subprocess
import sys

if len(sys.argv) > 1:
    print("inner", sys.argv[1:], sorted(os.environ) == sorted(eval(sys.argv[1])), os.listdir("/proc/self/fd") if os.path.isdir("/proc/self/fd") else "")
    sys.exit(7)
done = subprocess.run([sys.executable, __file__, repr(sorted(os.environ))], capture_output=True, text=True)
print(done.returncode, done.stdout[-40:], done.stderr)
print(subprocess.run("cat; echo $0; exit 5", shell=True, input=b"given\n", stdout=subprocess.PIPE))
child = subprocess.Popen([sys.executable, "-c", "import os, sys; print(sorted(os.environ) == sorted(eval(sys.argv[1])))", repr(sorted(os.environ))])
print(child.wait(), os.system("exit 3") >> 8, flush=True)
os.execv(sys.executable, [sys.executable, "-c", "print('another program')"])
