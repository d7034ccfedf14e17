"""The lines that a run has reached: compared with what CPython's own tracer sees of the same script."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from torchsleuth.runtime.session import run

TRACED = """
import json, runpy, sys
seen = set()
def trace(frame, event, _):
    if frame.f_code.co_filename == sys.argv[1]:
        seen.add(frame.f_lineno)
        return trace
sys.settrace(trace)
try:
    runpy.run_path(sys.argv[1], run_name="__main__")
except BaseException:
    pass
sys.settrace(None)
print(json.dumps(sorted(seen)), file=sys.stderr)
"""

SCRIPTS = {
    "branches": """
import math
def area(r, unit):
    if unit == "cm":
        scaled = math.floor(r * 100)
        r = scaled / 100
    else:
        r = math.floor(r)
        print(r + 1)
    return r
def unused(a):
    b = abs(a)
    return b + 1
def also_unused():
    return math.floor(2.5)
total = 0
for n in range(3):
    total = total + area(n, "m")
    if total > 100:
        print(abs(total))
        break
else:
    print(math.floor(1.5))
while total < 0:
    total = abs(total)
x = total if total > 0 else math.floor(total)
y = total > 0 or abs(total)
print(x, y)
""",
    "early exits": """
import math
def first(values):
    for value in values:
        found = abs(value)
        if found > 1:
            return found
        kept = math.floor(found)
        print(kept)
    left = abs(values[0])
    return left
def guarded(value):
    if value is None:
        return None
    size = abs(value)
    return math.floor(size)
print(first([3, 4]))
print(guarded(None))
""",
    "exceptions": """
import math
def parse(text):
    try:
        number = int(text)
        return math.floor(number)
    except ValueError:
        number = abs(-1)
        return math.floor(number)
    except TypeError:
        return abs(-2)
    finally:
        done = abs(3)
        print(done)
def raises(text):
    inner = math.sqrt(text)
    outer = math.floor(inner)
    return outer + 1
print(parse("x"))
try:
    print(raises(-1))
except ValueError as error:
    said = str(error) + "!"
    print(said)
match parse("3"):
    case 3:
        three = abs(3)
        print(three)
    case _:
        other = abs(4)
        print(other)
with open(__file__) as file:
    text = file.read()
    size = len(text) + abs(1)
class Kept:
    size = abs(5)
    def method(self):
        return abs(self.size)
    @property
    def value(self):
        return math.floor(self.size)
print(Kept().value)
""",
    "a crash": """
import math
def deep(n):
    half = math.floor(n / 2)
    return math.sqrt(half - 100)
before = abs(1)
after = deep(before)
print(math.floor(after))
never = math.floor(after)
""",
    "hidden behind a gate": """
import math
def f(i):
    if i == 70:
        late = math.floor(i)
        return late + 1
    plain = abs(i)
    return plain + 1
total = 0
for i in range(100):
    total = total + f(i)
    if i == 80:
        total = abs(total)
        print(math.floor(total))
print(total)
""",
}


@pytest.mark.parametrize("name", SCRIPTS)
def test_no_line_is_told_wrongly_and_most_are_told(name: str, tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(SCRIPTS[name].lstrip(), encoding="utf-8")
    traced = subprocess.run([sys.executable, "-c", TRACED, str(script)], capture_output=True, text=True, check=True)
    executed = set(map(int, traced.stderr.splitlines()[-1].strip("[]").split(",")))
    report = run(str(script), interpreter=sys.executable, on_output=lambda _: None)
    told = {line.start.line: line.reached for line in report.lines if line.path == str(script)}
    lines = script.read_text().splitlines()
    assert [lines[line - 1] for line, reached in sorted(told.items()) if reached and line not in executed] == []
    assert [lines[line - 1] for line, reached in sorted(told.items()) if not reached and line in executed] == []
    reached = {line for line, was in told.items() if was}
    assert len(executed & reached) >= 0.65 * len(executed)


def test_branches_and_functions_that_were_not_entered_are_told(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(SCRIPTS["branches"].lstrip(), encoding="utf-8")
    report = run(str(script), interpreter=sys.executable, on_output=lambda _: None)
    lines = script.read_text().splitlines()
    missed = [lines[line.start.line - 1].strip() for line in report.lines if not line.reached]
    assert missed == [
        "scaled = math.floor(r * 100)",
        "r = scaled / 100",
        "b = abs(a)",
        "return b + 1",
        "return math.floor(2.5)",
        "print(abs(total))",
        "break",
        "total = abs(total)",
    ]


def test_what_only_a_forked_process_reaches_is_not_told_as_missed(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "import os\ndef child(a):\n    b = abs(a)\n    return b\nif os.fork() == 0:\n    child(3)\n    os._exit(0)\nos.wait()\nd = abs(2)\n"
    )
    report = run(str(script), interpreter=sys.executable, on_output=lambda _: None)
    assert [line.start.line for line in report.lines if not line.reached] == []
    assert 9 in {line.start.line for line in report.lines if line.reached}
