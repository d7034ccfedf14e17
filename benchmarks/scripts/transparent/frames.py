"""Reads and changes variables through frames."""
import sys


def caller_locals():
    return sorted(sys._getframe(1).f_locals)


def f(a, b=2):
    c = a + b
    names = caller_locals()
    before = dict(locals())
    exec("d = a * 10")
    return names, sorted(before), c, eval("a + b"), f.__code__.co_varnames, f.__code__.co_firstlineno, f.__code__.co_argcount


class A:
    x = len("abc")
    names = sorted(name for name in sys._getframe().f_locals)


print(f(1), A.names, f.__code__.co_freevars, (lambda q: sorted(locals()))(1), [sorted(locals()) for _ in range(1)][0][:0])
print(sys._getframe().f_globals is globals(), sys._getframe(0).f_code.co_filename == __file__)
