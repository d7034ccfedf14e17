# -*- coding: latin-1 -*-
"""Is written in another encoding: é à ü."""
import inspect
import sys

text = "é à ü"
print(text, len(text), inspect.getsource(sys.modules[__name__])[:60])


def f():
    return text + str(text.index("ü")) + {}["ñ"]


f()
