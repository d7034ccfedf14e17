"""Alarms, handlers that raise, interrupted sleeps, wakeup descriptors, masks, faulthandler."""
import faulthandler, os, signal, sys, threading, time, torch
hits = []
def on_alarm(number, frame): hits.append(signal.Signals(number).name)
class Timeout(Exception): pass
def raising(number, frame): raise Timeout("late")
signal.signal(signal.SIGALRM, on_alarm); signal.setitimer(signal.ITIMER_REAL, 0.05)
def work():
    x = torch.ones(4, 4)
    while not hits: x = x @ x * 0.1
work(); print(hits)
signal.signal(signal.SIGALRM, raising); signal.setitimer(signal.ITIMER_REAL, 0.05)
def busy():
    x = torch.ones(4, 4)
    while True: x = (x @ x) * 0.1 + 1
try: busy()
except Timeout as error:
    import traceback; print(error, [f.name for f in traceback.extract_tb(error.__traceback__)][:2])
signal.signal(signal.SIGUSR1, lambda n, f: hits.append("usr1")); os.kill(os.getpid(), signal.SIGUSR1); print(hits[-1])
print(signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR2})); signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGUSR2})
print({s.name: str(signal.getsignal(s)).split(" ")[0] for s in signal.Signals if s not in (signal.SIGALRM, signal.SIGUSR1)})
print(faulthandler.is_enabled())
r, w = os.pipe(); os.set_blocking(w, False); print(signal.set_wakeup_fd(w)); os.kill(os.getpid(), signal.SIGUSR1); time.sleep(0.01); print(os.read(r, 1)); signal.set_wakeup_fd(-1)
try: signal.raise_signal(signal.SIGINT)
except KeyboardInterrupt as error: print("interrupted", len(traceback.extract_tb(error.__traceback__)))
sys.exit(7)
