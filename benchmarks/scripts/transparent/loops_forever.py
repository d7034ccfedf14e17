"""Interactive things: input(), stdin by lines, pty checks, exit in threads, daemon threads at exit, os.abort in a child."""
import atexit, os, sys, threading, time, torch, subprocess
print(repr(input("name? ")), repr(sys.stdin.readline()), file=sys.stderr)
print(sys.stdin.read().splitlines(), sys.stdin.encoding, sys.stdout.line_buffering, sys.stdout.encoding, sys.stdin.isatty())
done = threading.Event()
def daemon():
    x = torch.ones(3)
    for _ in range(9): x = x * 1.0 + 0
    while not done.is_set(): time.sleep(0.001)  # in an operator at the end, PyTorch may end the process itself
threading.Thread(target=daemon, daemon=True).start()
def thread_exits(): sys.exit(9)
t = threading.Thread(target=thread_exits); t.start(); t.join()
def thread_raises(): torch.ones(2) @ torch.ones(3)
t = threading.Thread(target=thread_raises, name="raiser"); t.start(); t.join()
pid = os.fork()
if pid == 0:
    sys.stdout.flush(); os.abort()
print(os.waitpid(pid, 0)[1])
class Late:
    def __del__(self): print("late", torch.ones(1).item() if torch is not None else None)
late = Late(); cycle = [late]; cycle.append(cycle)
atexit.register(lambda: print("first registered", (torch.ones(2) + 1).sum().item()))
atexit.register(lambda: 1 / 0)
sys.stdout.write("no newline at the end")
os.write(1, b"raw")
raise SystemExit([1, "list"])
