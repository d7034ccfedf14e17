"""Has hooks for exceptions that nobody catches, in the program, in threads and where they cannot be raised."""
import sys
import threading

sys.excepthook = lambda kind, value, trace: print("hook", kind.__name__, value, trace.tb_frame.f_code.co_name, trace.tb_next)
threading.excepthook = lambda args: print("thread hook", args.exc_type.__name__, args.exc_value)
sys.unraisablehook = lambda args: print("unraisable", args.exc_value)


class Broken:
    def __del__(self):
        raise ValueError("in __del__")


Broken()
thread = threading.Thread(target=lambda: [][0])
thread.start()
thread.join()
print(sys.excepthook is sys.__excepthook__)
{}["missing"]
