"""Rewrites the user's source so that every call, binary operation and indexing reports the tensor it makes.

What repeats (statements in loops and functions, comprehensions, lambdas, conditions) stands there twice, recorded and as
written, and a variable, its gate, says which of them runs: `recorder` closes the gates of places that make no tensors. So does
the whole body of a loop or function: its gate is closed when all within it are, and one look at a variable is what is left.

Locations are copied, so tracebacks and their carets stay those of the file. Functions that another compiler takes
(torch.jit.script, triton, torch.compile, numba) are left alone. Nothing is put before a docstring or an import.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple, cast

RECORDER = "torchsleuth_record"
"""A builtin while the script runs. No leading underscore: two would be mangled inside classes, and names with one are the
first that go when the interpreter ends."""

LOSS = "torchsleuth_loss"
"""A builtin too: gets what ``backward()`` is called on."""

DIFFERENTIATED = "torchsleuth_differentiated"
"""A builtin too: gets the first two arguments of ``autograd.grad()``, the loss and what it is differentiated by, as a tuple."""

GRADIENTS = "torchsleuth_gradients"
"""A builtin too: gets what ``autograd.grad()`` returned, and gives it back."""

LOADED = "torchsleuth_loaded"
"""A builtin too: gets what ``load_state_dict(…, strict=False)`` returned, the keys that did not fit, and gives it back."""

CALLED = "torchsleuth_called"
"""A builtin too: gets the name of a method that tells the structure of a training loop, and what it is called on."""

LEAVE = "torchsleuth_leave"
"""A builtin too: called with an exception that leaves the main program."""

CAUGHT = "torchsleuth_caught"
"""A builtin too: called where a handler begins, around steps of a training or, with True, around all that a program does."""

IMPORTED = "torchsleuth_imported"
"""A builtin too: called after each import statement."""

_GATE = "torchsleuth_gate_"
"""Beginning of the names of builtins that are true while what they guard is recorded."""
_MAX_NESTED_GATES = 6
_MAX_NESTED_BODIES = 3
"""Each one is a copy of the code within it."""

_COMPILERS = {"jit", "script", "compile", "triton", "numba", "njit", "vectorize"}
_TELLING = frozenset("zero_grad step unscale_ clip_grad_norm_ clip_grad_value_".split())
"""Methods and functions whose calls are told."""
_NEVER_TENSORS = frozenset(
    "print len range super isinstance issubclass int float str bool bytes repr open enumerate zip list dict set tuple"
    " type id hash hasattr setattr format globals locals vars dir callable ord chr input".split()
)

Span = tuple[int, int, int, int]
"""Line, column, end line, end column as `ast` counts: 1-based lines, 0-based UTF-8 columns."""


class Site(NamedTuple):
    """One recorded expression; `binding` is the name or attribute that its value is given to, and where that stands."""

    path: str
    span: Span
    binding: tuple[str, Span] | None = None
    gates: tuple[int, ...] = ()
    """Numbers of the gates around it, the innermost first."""


def switch_gates(gates: Iterable[int], open_: Any) -> None:
    """Open or close gates in this process; `open_`: True, False, or what is asked for its truth each time."""
    for gate in gates:
        setattr(builtins, f"{_GATE}{gate}", open_)


def gate_names(gates: Iterable[int]) -> list[str]:
    return [f"{_GATE}{gate}" for gate in gates]


def span_of(node: Any) -> Span:
    """The span of a node that carries a location."""
    return (node.lineno, node.col_offset, node.end_lineno, node.end_col_offset)


class Rewriter(ast.NodeTransformer):
    """Wraps the expressions of one file; `sites` grows by one entry for each."""

    def __init__(self, path: str, sites: list[Site], twins: dict[int, Any]) -> None:
        """`twins` are the same nodes of a second tree, by the identity of those of the first: they stay as written."""
        self.path = path
        self.sites = sites
        self._twins = twins
        self._gates: tuple[int, ...] = ()
        self._repeats = False
        """Whether what is visited may run more than once."""
        self._bodies = 0
        """Gates of whole bodies around what is visited."""
        self._last: ast.stmt | None = None
        """The last statement of the file, or of the condition that it ends with."""

    def _recorded(self, value: ast.expr, span: Span, binding: tuple[str, Span] | None) -> ast.Call:
        self.sites.append(Site(self.path, span, binding, self._gates))
        name = ast.copy_location(ast.Name(RECORDER, ast.Load()), value)
        number = ast.copy_location(ast.Constant(len(self.sites) - 1), value)
        return ast.copy_location(ast.Call(name, [number, value], []), value)

    def _wrapped(self, node: ast.expr, binding: tuple[str, Span] | None = None) -> ast.expr:
        span = span_of(node)
        self.generic_visit(node)
        return self._recorded(node, span, binding)

    def _report(self, name: str, bound: Any, at: ast.AST | None = None) -> ast.stmt:
        """A statement that reports a variable, located at the place that bound it or, for tracers, at another one."""
        at = at or bound
        load = ast.copy_location(ast.Name(name, ast.Load()), at)
        return ast.copy_location(ast.Expr(self._recorded(load, span_of(bound), (name, span_of(bound)))), at)

    # gates

    def visit(self, node: Any) -> Any:
        if not self._repeats or not isinstance(node, _GATED) or len(self._gates) == _MAX_NESTED_GATES:
            return super().visit(node)
        twin = self._twins[id(node)]
        at = _first_evaluated(twin)
        visited, gate = self._within_gate(super().visit, node)
        if gate is None:
            return visited
        if isinstance(node, ast.stmt):
            body = visited if isinstance(visited, list) else [visited]
            return ast.copy_location(ast.If(_name(gate, at), body, [twin]), at)
        return ast.copy_location(ast.IfExp(_name(gate, at), visited, twin), twin)

    def _within_gate(self, visit: Callable[[Any], Any], node: Any) -> tuple[Any, str | None]:
        """The visited node, and the name of its gate, if there is something to guard."""
        known, outer = len(self.sites), self._gates
        number = known * _MAX_NESTED_GATES + len(outer)
        self._gates = (number, *outer)
        visited = visit(node)
        self._gates = outer
        return visited, f"{_GATE}{number}" if len(self.sites) > known else None

    def _condition(self, node: ast.expr) -> ast.expr:
        """The visited condition of a statement, which stands as written behind a gate too."""
        twin = self._twins[id(node)]
        if not self._repeats or len(self._gates) == _MAX_NESTED_GATES:
            return cast(ast.expr, self.visit(node))
        visited, gate = self._within_gate(self.visit, node)
        at = _first_evaluated(twin)
        return visited if gate is None else ast.copy_location(ast.IfExp(_name(gate, at), visited, twin), twin)

    def _body(self, reported: Callable[[], list[ast.stmt]], statements: list[ast.stmt]) -> list[ast.stmt]:
        """The visited body of a loop or function, behind the reports of what it binds; as a whole behind a gate."""

        def visit(block: list[ast.stmt]) -> list[ast.stmt]:
            return [*reported(), *self._block(block)]

        twins: list[ast.stmt] = [self._twins[id(statement)] for statement in statements]
        if not twins or self._bodies == _MAX_NESTED_BODIES or not _may_run_as_written(twins):
            return visit(statements)
        self._bodies += 1
        visited, gate = self._within_gate(visit, statements)
        self._bodies -= 1
        if gate is None:
            return cast("list[ast.stmt]", visited)
        at = _first_line(twins[0])
        return [ast.copy_location(ast.If(_name(gate, at), visited, twins), at)]

    def _reports(self, names: Iterable[tuple[str, Any]], at: ast.AST | None = None) -> list[ast.stmt]:
        """Reports of variables, behind a gate where they repeat."""
        if not self._repeats or len(self._gates) == _MAX_NESTED_GATES:
            return [self._report(name, place, at) for name, place in names]
        reports, gate = self._within_gate(lambda names: [self._report(name, place, at) for name, place in names], names)
        return [] if gate is None else [ast.copy_location(ast.If(_name(gate, reports[0]), reports, []), reports[0])]

    def _repeating(self, visit: Callable[[], Any], repeats: bool = True) -> Any:
        before, self._repeats = self._repeats, repeats
        found = visit()
        self._repeats = before
        return found

    def visit_Lambda(self, node: ast.Lambda) -> ast.AST:
        node.args = self.visit(node.args)
        node.body = self._repeating(lambda: self._condition(node.body))
        return node

    def visit_comprehension_of(self, node: Any) -> ast.AST:
        return cast(ast.AST, self._repeating(lambda: self.generic_visit(node)))

    visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = visit_comprehension_of

    def visit_If(self, node: ast.If) -> ast.AST:
        node.test = self._condition(node.test)
        node.body, node.orelse = self._block(node.body), self._block(node.orelse)
        return node

    def visit_While(self, node: ast.While) -> ast.AST:
        node.test = self._repeating(lambda: self._condition(node.test))
        node.body = self._repeating(lambda: self._body(list, node.body))
        node.orelse = self._block(node.orelse)
        return node

    # expressions

    def visit_Call(self, node: ast.Call) -> ast.AST:
        if isinstance(node.func, ast.Name) and node.func.id in _NEVER_TENSORS:
            return self.generic_visit(node)
        wrapped = self._wrapped(node)
        self._tell(node)
        return wrapped

    def _tell(self, node: ast.Call) -> None:
        """Tell of a call that shows the structure of a training loop; also where it stands as written, behind a closed gate."""
        for call in (node, self._twins[id(node)]):
            self._tell_of(call)

    def _tell_of(self, node: ast.Call) -> None:
        function = node.func
        if isinstance(function, ast.Attribute) and function.attr == "backward":
            function.value = self._told(LOSS, [], function.value, node)
        elif isinstance(function, ast.Attribute) and function.attr in _TELLING and not _is_super(function.value):
            function.value = self._told(CALLED, [function.attr], function.value, node)
        elif isinstance(function, ast.Name) and function.id in _TELLING and function.id.startswith("clip"):
            node.func = self._told(CALLED, [function.id], function, node)
        elif _loads_leniently(node):
            inner = ast.copy_location(ast.Call(function, node.args, node.keywords), node)
            told = self._told(LOADED, [], inner, node)
            node.func, node.args, node.keywords = told.func, told.args, []
        elif _differentiates(node):
            pair = ast.copy_location(ast.Tuple(node.args[:2], ast.Load()), node)
            given = self._told(DIFFERENTIATED, [], pair, node)
            arguments: list[ast.expr] = [ast.copy_location(ast.Starred(given, ast.Load()), node), *node.args[2:]]
            inner = ast.copy_location(ast.Call(function, arguments, node.keywords), node)
            told = self._told(GRADIENTS, [], inner, node)
            node.func, node.args, node.keywords = told.func, told.args, []

    @staticmethod
    def _told(name: str, words: list[str], value: ast.expr, at: ast.Call) -> ast.Call:
        """A call of one of the builtins with the value, which it gives back, located at the call that it tells of."""
        function = ast.copy_location(ast.Name(name, ast.Load()), at)
        given: list[ast.expr] = [ast.copy_location(ast.Constant(word), at) for word in words]
        return ast.copy_location(ast.Call(function, [*given, value], []), at)

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        if _is_text(node.left) or (isinstance(node.left, ast.Constant) and isinstance(node.right, ast.Constant)):
            return self.generic_visit(node)
        return self._wrapped(node)

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        return self._wrapped(node) if isinstance(node.ctx, ast.Load) else self.generic_visit(node)

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.AST:
        return node  # the positions inside are wrong before Python 3.12

    visit_TemplateStr = visit_JoinedStr

    # statements

    def visit_Module(self, node: ast.Module) -> ast.AST:
        last = node.body[-1] if node.body else None
        self._last = last.body[-1] if isinstance(last, ast.If) and not last.orelse else last
        return self.generic_visit(node)

    def visit_Try(self, node: ast.Try) -> ast.AST:
        """Handlers tell what they have caught, where that is what ended a training or the program, unless it goes on its way."""
        trains = any(_is_told(part) for statement in node.body for part in ast.walk(statement))
        last = node is self._last and not trains
        self.generic_visit(node)
        for handler in node.handlers if trains or last else ():
            if not isinstance(handler.body[0], ast.Raise):
                caught = ast.Call(ast.Name(CAUGHT, ast.Load()), [ast.Constant(last)], [])
                handler.body.insert(0, located(ast.Expr(caught), handler))
        return node

    def visit_Expr(self, node: ast.Expr) -> ast.AST:
        """A call whose value nobody uses is not recorded: nothing of ours is to run after ``breakpoint()``."""
        if not isinstance(node.value, ast.Call):
            return self.generic_visit(node)
        self.generic_visit(node.value)
        self._tell(node.value)
        return node

    def visit_Import(self, node: Any) -> Any:
        if isinstance(node, ast.ImportFrom) and node.module == "__future__":
            return node
        return [node, self._statement(IMPORTED, node)]

    visit_ImportFrom = visit_Import

    def _statement(self, name: str, at: ast.AST) -> ast.stmt:
        """A call of one of the builtins without arguments, located at a statement."""
        call = ast.Call(ast.copy_location(ast.Name(name, ast.Load()), at), [], [])
        return ast.copy_location(ast.Expr(ast.copy_location(call, at)), at)

    def visit_Assign(self, node: ast.Assign) -> Any:
        """The value carries the binding of a single target; names in tuples are reported after the assignment."""
        target = node.targets[0]
        if len(node.targets) == 1 and isinstance(target, ast.Name | ast.Attribute):
            binding = (ast.unparse(target), span_of(target))
            node.targets = [self.visit(target)]
            node.value = self._bound(node.value, binding)
            return node
        # A name that is bound twice, as in ``out, _, _ = …``, has the value of the last one then.
        names = {name.id: name for target in node.targets for name in _names(target)}
        self.generic_visit(node)
        return [node, *(self._report(name, place) for name, place in names.items())]

    def _bound(self, value: ast.expr, binding: tuple[str, Span]) -> ast.expr:
        if isinstance(value, ast.Call | ast.BinOp | ast.Subscript):
            visited = self.visit(value)
            if isinstance(visited, ast.Call) and getattr(visited.func, "id", None) == RECORDER:
                number = visited.args[0].value  # type: ignore[attr-defined]
                self.sites[number] = self.sites[number]._replace(binding=binding)
            return visited
        if isinstance(value, ast.Attribute | ast.Name | ast.Compare | ast.UnaryOp | ast.IfExp | ast.BoolOp | ast.Await):
            return self._wrapped(value, binding)
        return self.visit(value)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        """The annotation stays as written: with ``from __future__ import annotations`` its text is visible."""
        if node.value is not None:
            node.value = self._bound(node.value, (ast.unparse(node.target), span_of(node.target)))
        return node

    def visit_AugAssign(self, node: ast.AugAssign) -> Any:
        self.generic_visit(node)
        return [node, self._report(node.target.id, node.target)] if isinstance(node.target, ast.Name) else node

    def visit_For(self, node: Any) -> ast.AST:
        names = {name.id: name for name in _names(node.target)}
        node.target = self.visit(node.target)
        node.iter = self._condition(node.iter)
        node.body = self._repeating(lambda: self._body(lambda: self._reports(names.items()), node.body))
        node.orelse = self._block(node.orelse)
        return node

    visit_AsyncFor = visit_For

    def visit_FunctionDef(self, node: Any) -> ast.AST:
        """Parameters are reported below the docstring; decorators, defaults and annotations stay as written."""
        if _compiled_elsewhere(node):
            return node
        arguments = node.args
        named = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
        places = [argument for argument in named if argument.arg not in ("self", "cls")]
        after = 0
        while after < len(node.body) and _makes_no_code(node.body[after]):
            after += 1
        first = node.body[after] if after < len(node.body) else None
        at = first.decorator_list[0] if first is not None and getattr(first, "decorator_list", None) else first
        named_places = [(argument.arg, _name_of(argument)) for argument in places] if at is not None else []
        gates, self._gates = self._gates, ()
        bodies, self._bodies = self._bodies, 0
        body = self._repeating(lambda: self._body(lambda: self._reports(named_places, at), node.body[after:]))
        self._gates, self._bodies = gates, bodies
        node.body = [*node.body[:after], *body]
        return node

    visit_AsyncFunctionDef = visit_FunctionDef

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        if not _compiled_elsewhere(node):
            node.body = self._repeating(lambda: self._block(node.body), False)
        return node

    def visit_Match(self, node: ast.Match) -> ast.AST:
        """Patterns look like calls and operations, and are none."""
        node.subject = self.visit(node.subject)
        for case in node.cases:
            case.body = self._block(case.body)
        return node

    def visit_TypeAlias(self, node: Any) -> Any:
        return node

    def visit_Delete(self, node: ast.Delete) -> ast.AST:
        return node

    def visit_Raise(self, node: ast.Raise) -> ast.AST:
        """A message is made there, and mostly never: it shall not keep the gates around it open."""
        return node

    def _block(self, statements: list[ast.stmt]) -> list[ast.stmt]:
        found: list[ast.stmt] = []
        for statement in statements:
            visited = self.visit(statement)
            found.extend(visited if isinstance(visited, list) else [visited])
        return found


def _is_super(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "super"


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str))


_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_GATED = (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Expr, ast.Return, ast.Assert, *_COMPREHENSIONS)
_ATOMS = (ast.NamedExpr, ast.JoinedStr, ast.Dict, ast.Constant, *_COMPREHENSIONS)
_FIRST_PARTS = ("value", "func", "left", "values", "test", "elts", "operand", "exc")


def _first_evaluated(node: Any) -> Any:
    """The part of a statement or expression that is evaluated first: tracers see its line first."""
    if isinstance(node, ast.AugAssign):
        return node.target
    while not isinstance(node, _ATOMS):
        part = next((getattr(node, name) for name in _FIRST_PARTS if getattr(node, name, None)), None)
        part = part[0] if isinstance(part, list) else part
        if part is None:
            break
        node = part
    return node


def _first_line(statement: ast.stmt) -> Any:
    """The part of a statement that stands on the line which tracers see first."""
    decorators = getattr(statement, "decorator_list", None)
    return decorators[0] if decorators else _first_evaluated(statement)


_HAVE_GATES_OF_THEIR_OWN = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_STAND_ONCE = (ast.Global, ast.Nonlocal)


def _may_run_as_written(body: list[ast.stmt]) -> bool:
    """Whether a body may stand there twice, and is one that may turn out to make no tensors."""
    alone = (*_HAVE_GATES_OF_THEIR_OWN, *_STAND_ONCE, ast.Import, ast.ImportFrom)
    return not any(isinstance(part, alone) or _is_told(part) for statement in body for part in ast.walk(statement))


def _is_told(node: ast.AST) -> bool:
    """Whether a call is one that tells the structure of a training loop."""
    if not isinstance(node, ast.Call):
        return False
    name = _called(node)
    return name == "backward" or name in _TELLING or _differentiates(node)


def _called(node: ast.Call) -> str:
    """The last word of what a call calls; empty for everything else. (`syntax.forms.called`, without its imports.)"""
    function = node.func
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def _differentiates(node: ast.Call) -> bool:
    """Whether a call is ``autograd.grad(loss, parameters)``: gradients that a script uses itself, and not in another graph."""
    plain = len(node.args) >= 2 and not any(isinstance(one, ast.Starred) for one in node.args[:2])
    further = any(keyword.arg in (None, "create_graph") for keyword in node.keywords)
    return _called(node) == "grad" and plain and not further


def _loads_leniently(node: ast.Call) -> bool:
    """Whether a call is ``load_state_dict(…, strict=False)``."""
    lenient = any(
        isinstance(one.value, ast.Constant) and one.value.value is False for one in node.keywords if one.arg == "strict"
    )
    return lenient and isinstance(node.func, ast.Attribute) and node.func.attr == "load_state_dict"


def _name(name: str, at: Any) -> ast.Name:
    return ast.copy_location(ast.Name(name, ast.Load()), at)


def _makes_no_code(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Global | ast.Nonlocal) or _is_docstring(statement)


def _is_docstring(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def _names(target: ast.expr) -> list[ast.Name]:
    """The variables that an assignment or loop target binds, in order."""
    if isinstance(target, ast.Name):
        return [target]
    if isinstance(target, ast.Starred):
        return _names(target.value)
    if isinstance(target, ast.Tuple | ast.List):
        return [name for part in target.elts for name in _names(part)]
    return []


def _name_of(argument: ast.arg) -> ast.AST:
    """The place of a parameter's name, without its annotation."""
    place = ast.copy_location(ast.Name(argument.arg, ast.Load()), argument)
    place.end_lineno, place.end_col_offset = place.lineno, place.col_offset + len(argument.arg.encode())
    return place


def _compiled_elsewhere(node: Any) -> bool:
    words = {
        part.id if isinstance(part, ast.Name) else part.attr
        for decorator in node.decorator_list
        for part in ast.walk(decorator)
        if isinstance(part, ast.Name | ast.Attribute)
    }
    return not words.isdisjoint(_COMPILERS)


def _parsed(source: bytes | str, path: str) -> ast.Module:
    tree: Any = compile(source, path, "exec", ast.PyCF_ONLY_AST, dont_inherit=True)
    return cast(ast.Module, tree)


def _rewritten(source: bytes | str, path: str, sites: list[Site]) -> ast.Module | None:
    """The tree of a file with recording; None where it is too deep for this."""
    tree, second = _parsed(source, path), _parsed(source, path)
    twins = {id(node): twin for node, twin in zip(ast.walk(tree), ast.walk(second))}
    known = len(sites)
    try:
        visited: ast.Module = Rewriter(path, sites, twins).visit(tree)
    except RecursionError:
        del sites[known:]
        return None
    gates = {gate for site in sites[known:] for gate in site.gates}
    if gates:  # looked up as global variables in the module's own code too, which is quicker
        first = 0
        while first < len(visited.body) and (_is_docstring(visited.body[first]) or _is_future(visited.body[first])):
            first += 1
        statement = ast.Global(gate_names(sorted(gates)))
        visited.body.insert(first, located(statement, visited.body[first] if first < len(visited.body) else None))
    return visited


def sites_of(source: bytes | str, path: str) -> list[Site]:
    """The recorded places of a file, in order."""
    sites: list[Site] = []
    _rewritten(source, path, sites)
    return sites


def rewrite(source: bytes | str, path: str, sites: list[Site]) -> Any:
    """The code object of a file with recording, its gates open. Raises SyntaxError as compiling the file itself does."""
    known = len(sites)
    tree = _rewritten(source, path, sites)
    try:
        code = compile(source if tree is None else tree, path, "exec", dont_inherit=True)
    except RecursionError:
        del sites[known:]
        return compile(source, path, "exec", dont_inherit=True)
    switch_gates({gate for site in sites[known:] for gate in site.gates}, True)
    return code


def main_code(source: bytes, path: str, begin: str, given: tuple[Any, ...], shown: str | None = None) -> Any:
    """The code object of a main program with recording. First of all it executes the text `begin`, with `given` and the sites
    as the variable ``given``; exceptions that leave it are shown to `LEAVE`, and go on. `shown`: the path that the interpreter would
    give the code, if it is another one."""
    sites: list[Site] = []
    tree = _rewritten(source, path, sites) or _parsed(source, path)
    first = 0
    while first < len(tree.body) and (_is_docstring(tree.body[first]) or _is_future(tree.body[first])):
        first += 1
    body = tree.body[first:]
    told: Any = (*given, tuple((site.span, site.binding, site.gates) for site in sites))
    tree.body[first:] = [beginning(begin, told, body[0] if body else None)]
    if body:
        tree.body.append(guarded(body))
    return compile(tree, shown or path, "exec", dont_inherit=True)


def beginning(text: str, given: Any, at: ast.stmt | None) -> ast.stmt:
    """A statement that executes a text, with the variable ``given``."""
    variables = ast.Dict([ast.Constant("given")], [ast.Constant(given)])
    call = ast.Call(ast.Name("exec", ast.Load()), [ast.Constant(text), variables], [])
    statement: ast.stmt = located(ast.Expr(call), at)
    return statement


def guarded(body: list[ast.stmt]) -> ast.Try:
    """Statements that show `LEAVE` the exceptions that leave them. A bare ``raise`` adds nothing to a traceback."""
    call = ast.Expr(ast.Call(ast.Name(LEAVE, ast.Load()), [], []))
    last = body[-1]
    handler = ast.ExceptHandler(None, None, [located(call, last), located(ast.Raise(None, None), last)])
    handler = ast.copy_location(handler, last)
    return ast.copy_location(ast.Try(body, [handler], [], []), body[0])


def located(node: Any, at: ast.AST | None) -> Any:
    """A tree that stands where a statement stands, or at the beginning of the file."""
    for part in ast.walk(node):
        if at is not None:
            ast.copy_location(part, at)
    return node if at is not None else ast.fix_missing_locations(node)


def _is_future(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.ImportFrom) and statement.module == "__future__"
