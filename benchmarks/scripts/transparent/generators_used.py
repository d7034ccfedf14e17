"""Generators with send, throw, return and delegation; iterators used up; comprehensions with scopes."""
import itertools


def averager():
    total, count = 0.0, 0
    while True:
        try:
            value = yield (total / count if count else None)
        except ValueError as error:
            value = float(str(error))
        total, count = total + value, count + 1


def chain(n):
    got = yield from inner(n)
    return got * 2


def inner(n):
    yield from (i * j for i in range(n) for j in range(i) if i != j)
    return n


average = averager()
next(average)
print(average.send(4), average.throw(ValueError("2")), average.gi_frame.f_lineno, average.gi_running)
average.close()
g = chain(4)
while True:
    try:
        print(next(g), end=" ")
    except StopIteration as stop:
        print("returned", stop.value)
        break
x = 5
print([x for x in range(3)], x, {y: (z := y + 1) for y in range(2)}, z, *itertools.islice(iter(lambda: next(itertools.count(7)), 0), 2))
print([lambda: i for i in range(2)][0](), [f(1) for f in [lambda v, k=k: v + k for k in range(3)]])
