"""The lines of a file that a run has reached, and those that it has not, by the expressions that were evaluated there.

    reached_lines(text, reached, missed, failed) -> {line: True | False}

Not every statement holds an expression that is recorded. What stands before one that was reached in the same block was
reached too, and what stands behind one that was not was not either. Where nothing tells, a line is left out: parts of a
conditional expression, and what follows a statement that may have raised.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from typing import Any

Span = tuple[int, int, int, int]
"""Line, column, end line, end column as `ast` counts: 1-based lines, 0-based UTF-8 columns."""

_JUMPS = (ast.Return, ast.Continue, ast.Break, ast.Raise)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_CONDITIONAL = (
    ast.IfExp,
    ast.BoolOp,
    ast.Lambda,
    ast.ListComp,
    ast.SetComp,
    ast.DictComp,
    ast.GeneratorExp,
    ast.Compare,
)
"""Expressions of which parts may stay without a value although the statement was executed."""


def reached_lines(
    text: str, reached: Iterable[Span], missed: Iterable[Span], failed: Iterable[int] = (), completed: bool = False
) -> dict[int, bool]:
    """By line, whether it was reached. `failed` are lines that an exception left: they were reached, whatever they hold.
    `completed`: the last statement of the file was, too."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return {}
    lines = _Lines(frozenset(reached), frozenset(missed), frozenset(failed))
    try:
        lines.block(tree.body, branch=False, completed=completed)
    except RecursionError:
        return {}
    return lines.found


class _Lines:
    def __init__(self, reached: frozenset[Span], missed: frozenset[Span], failed: frozenset[int]) -> None:
        self._reached = reached
        self._missed = missed
        self._failed = failed
        self._states: dict[int, bool | None] = {}
        self.found: dict[int, bool] = {}

    def block(
        self, statements: list[ast.stmt], branch: bool, known: bool | None = None, completed: bool = False
    ) -> None:
        """`branch`: the block is entered by a decision, not by what stands before it. `known`: whether it was entered, where
        something else than its statements tells."""
        states = [self._state(statement) for statement in statements]
        last = max((index for index, state in enumerate(states) if state or completed), default=-1)
        gone = known is False
        # The first statement without a value may have raised, unless a decision keeps control from it.
        doubtful = not (branch and last < 0 and known is None and states[:1] == [False])
        flows = known is True  # control certainly gets to the next statement
        for index, statement in enumerate(statements):
            if index > last and not flows:
                doubtful = doubtful and not (index > 0 and _may_jump(statements[index - 1]))
                gone = gone or (states[index] is False and not doubtful)
                doubtful = doubtful and states[index] is not False
            state = True if index <= last or flows else False if gone else None
            flows = state is True and self._completes(statement)
            self._mark(statement, state)
            for inner, decided in _blocks(statement):
                function = isinstance(statement, _FUNCTIONS)
                entered = False if state is False else self._called(statement) if function else None
                self.block(inner, decided, entered)

    def _mark(self, statement: ast.stmt, state: bool | None) -> None:
        if state is None:
            return
        inner = [block[0].lineno for block, _ in _blocks(statement) if block]
        end = min(inner) - 1 if inner else statement.end_lineno or statement.lineno
        for line in range(statement.lineno, max(end, statement.lineno) + 1):
            self.found.setdefault(line, state)

    def _state(self, statement: ast.stmt) -> bool | None:
        """Whether a statement was reached: by what was evaluated in it and in its blocks, but not in functions."""
        if id(statement) not in self._states:
            self._states[id(statement)] = self._judged(statement)
        return self._states[id(statement)]

    def _judged(self, statement: ast.stmt) -> bool | None:
        if any(statement.lineno <= line <= (statement.end_lineno or statement.lineno) for line in self._failed):
            if not isinstance(statement, _FUNCTIONS):
                return True
        missed = False
        for node, certain in _evaluated(statement):
            span = _span(node)
            if span in self._reached:
                return True
            missed = missed or (certain and span in self._missed)
        if any(self._state(inner) for block, _ in _blocks(statement) for inner in block) and not isinstance(
            statement, _FUNCTIONS
        ):
            return True
        return False if missed else None

    def _completes(self, statement: ast.stmt) -> bool:
        """Whether a statement that was reached has certainly led to the next one."""
        value = getattr(statement, "value", None)
        named = [*getattr(statement, "targets", ()), *([statement.target] if hasattr(statement, "target") else [])]
        return (
            isinstance(statement, ast.Assign | ast.AnnAssign | ast.Pass)
            and all(isinstance(target, ast.Name) for target in named)
            and (value is None or isinstance(value, ast.Constant) or _span(value) in self._reached)
        )

    def _called(self, function: Any) -> bool | None:
        """Whether a function was called, by its parameters."""
        given = function.args
        for argument in (*given.posonlyargs, *given.args, *given.kwonlyargs):
            width = len(argument.arg.encode())
            span = (argument.lineno, argument.col_offset, argument.lineno, argument.col_offset + width)
            if span in self._missed:
                return False
            if span in self._reached:
                return True
        return None


def _span(node: Any) -> Span:
    return (node.lineno, node.col_offset, node.end_lineno, node.end_col_offset)


def _blocks(statement: ast.stmt) -> Iterator[tuple[list[ast.stmt], bool]]:
    """The blocks of a statement, and whether a decision leads into each."""
    straight = isinstance(statement, ast.With | ast.AsyncWith | ast.ClassDef | ast.Try) or (
        type(statement).__name__ == "TryStar"
    )
    for name in ("body", "orelse", "finalbody"):
        block = getattr(statement, name, None)
        if block:
            yield block, name == "orelse" or not (straight or name == "finalbody")
    for handler in (*getattr(statement, "handlers", ()), *getattr(statement, "cases", ())):
        yield handler.body, True


def _evaluated(statement: ast.stmt) -> Iterator[tuple[ast.AST, bool]]:
    """The expressions that belong to a statement itself, and whether each has a value once the statement was executed."""
    if isinstance(statement, _FUNCTIONS):
        parts: list[ast.AST] = [*statement.decorator_list, statement.args]
        return (found for part in parts for found in _expressions(part, False))
    blocks = {id(inner) for block, _ in _blocks(statement) for inner in block}
    return (
        found
        for child in ast.iter_child_nodes(statement)
        if id(child) not in blocks and not isinstance(child, ast.ExceptHandler | ast.match_case)
        for found in _expressions(child, True)
    )


def _expressions(node: ast.AST, certain: bool) -> Iterator[tuple[ast.AST, bool]]:
    if isinstance(node, ast.expr):
        yield node, certain
    inside = certain and not isinstance(node, _CONDITIONAL)
    for child in ast.iter_child_nodes(node):
        yield from _expressions(child, inside)


def _may_jump(statement: ast.stmt) -> bool:
    """Whether control may leave the block in a statement other than by an exception."""
    return any(isinstance(node, _JUMPS) for node in ast.walk(statement))
