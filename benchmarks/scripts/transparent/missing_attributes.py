"""Asks sys for what is not there."""
import sys
import traceback

print(getattr(sys, "frozen", False), hasattr(sys, "ps1"), hasattr(sys, "gettotalrefcount"), sys.__name__)
try:
    sys.no_such_thing
except AttributeError:
    traceback.print_exc()
print(sys.settrace, sys.setprofile, callable(sys.gettrace))
sys.nothing_like_it
