"""settrace, setprofile, sys.monitoring or bdb, coverage by hand, dis, bytecode, co_ attributes."""
import bdb, dis, inspect, io, sys, threading, torch
def f(x, n):
    total = 0
    for i in range(n):
        y = x * i
        total = total + y.sum().item()
    return total
lines = []
def tracer(frame, event, arg):
    if frame.f_code.co_filename == __file__: lines.append((frame.f_code.co_name, frame.f_lineno, event))
    return tracer
sys.settrace(tracer); f(torch.ones(2), 2); sys.settrace(None)
print(lines)
calls = []
sys.setprofile(lambda frame, event, arg: calls.append((event, frame.f_code.co_name if not event.startswith("c_") else arg.__name__))); f(torch.ones(2), 1); sys.setprofile(None)
print(calls)
class Debugger(bdb.Bdb):
    seen = []
    def user_line(self, frame):
        if frame.f_code.co_filename == __file__: self.seen.append((frame.f_lineno, sorted(frame.f_locals)))
        self.set_step()
d = Debugger(); print(d.runcall(f, torch.ones(2), 1)); print(d.seen)
def g(a, /, b, *args, c=1, **kw): "doc"; return a + b
print(inspect.signature(g), inspect.getsource(g), g.__code__.co_varnames, g.__doc__, g.__code__.co_firstlineno, inspect.getfile(g) == __file__)
threading.setprofile(lambda *a: None); threading.setprofile(None)
import cProfile, pstats
p = cProfile.Profile(); p.runcall(f, torch.ones(2), 2)
s = io.StringIO(); stats = pstats.Stats(p, stream=s); print(sorted((k[2], v[0]) for k, v in stats.stats.items()))
