"""Handles signals that it sends itself."""
import os
import signal

seen = []


def handle(number, frame):
    seen.append((signal.Signals(number).name, frame.f_code.co_name, frame.f_lineno > 0))


for name in ("SIGUSR1", "SIGUSR2", "SIGTERM", "SIGHUP", "SIGALRM", "SIGCHLD", "SIGWINCH", "SIGQUIT", "SIGTSTP", "SIGCONT"):
    signal.signal(getattr(signal, name), handle)
    os.kill(os.getpid(), getattr(signal, name))
signal.setitimer(signal.ITIMER_REAL, 0.01)
signal.pause()
print(seen)
print([signal.getsignal(number) for number in (signal.SIGINT, signal.SIGPIPE, signal.SIGXFSZ, signal.SIGTTOU)])
print(signal.pthread_sigmask(signal.SIG_BLOCK, []), signal.set_wakeup_fd(-1))
