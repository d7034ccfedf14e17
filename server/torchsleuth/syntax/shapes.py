"""Shapes that the author wrote down: comments such as ``# (B, T, C)`` and annotations such as ``Float[Tensor, "b t c"]``."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from torchsleuth.sifting import all_are, as_kind, of_kind, only
from torchsleuth.syntax.forms import (
    by_position,
    every_parameter,
    is_dotted,
    is_literal,
    is_reference,
    is_text,
    parts_of_tuple,
)
from torchsleuth.syntax.latex import FILL, plain
from torchsleuth.syntax.text import SourceText

Key = tuple[int, int]
"""Line and column of a node, in the units of `ast`."""


@dataclass(frozen=True)
class Dimension:
    """One declared size: a number, a name, or None for any. `start`, `end`: where it stands in the text. `may_be_one`:
    a size that broadcasts. `formula`: of a size that is computed from others, such as ``2*d``; `passed`: of what is in it, the
    arguments and attributes that are numbers, ``n`` of ``2*{n}``. `name`: beside a number."""

    size: int | str | None
    start: int
    end: int
    may_be_one: bool = False
    formula: str = ""
    name: str = ""
    passed: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Declared:
    """A declared shape.

    `kind`: comment, annotation or docstring. `dims`: in order, without the part that stands for any number of dimensions;
    `spread`: how many of them come before that part, `spread_name`: its name, as in ``*batch``. `start`, `end`: where the
    list of sizes stands in the text, between its brackets. `named`: the comment says that this is a shape; `bare`: it has no
    brackets either. `exact`: nothing
    else is said that may qualify it. `strict`: single letters in it are sizes, and not only names of axes. `dtype`: the class of dtypes that an annotation names, such as ``Float``.
    """

    kind: str
    dims: tuple[Dimension, ...]
    spread: int | None
    start: int
    end: int
    named: bool = True
    exact: bool = True
    separator: str = ", "
    spread_name: str = ""
    dtype: str = ""
    bare: bool = False
    strict: bool = False

    @property
    def names(self) -> Iterator[str]:
        """The names of its sizes, those in formulas included."""
        for part in self.dims:
            if isinstance(part.size, str):
                yield part.size
            yield from filter(None, (part.name, *_NAME.findall(part.formula)))

    def aligned(self, rank: int) -> tuple[Dimension | None, ...] | None:
        """For each dimension of a tensor what is declared of it; None if the ranks do not agree."""
        if self.spread is None:
            return self.dims if rank == len(self.dims) else None
        missing = rank - len(self.dims)
        if missing < 0:
            return None
        return (*self.dims[: self.spread], *(None,) * missing, *self.dims[self.spread :])


@dataclass(frozen=True)
class DeclaredParts:
    """The declared shapes in a tuple, None for parts that declare none. `alike`: any number of parts like the first; `stated`: it
    says that there is a tuple of so many parts, as an annotation does."""

    parts: tuple[Written | None, ...]
    alike: bool
    stated: bool = True

    @property
    def names(self) -> Iterator[str]:
        for part in self.parts:
            yield from () if part is None else part.names


Written = Declared | DeclaredParts


@dataclass(frozen=True)
class Declarations:
    """The declared shapes of a file: of the values of assignments and returns, of parameters, of what functions return.
    `statements` has assignments to attributes, too, whose shape the body of the class declares; `fields` has what the annotations
    in the bodies of classes declare."""

    statements: dict[Key, Written] = field(default_factory=dict)
    parameters: dict[Key, Declared] = field(default_factory=dict)
    results: dict[Key, Written] = field(default_factory=dict)
    fields: dict[Key, Declared] = field(default_factory=dict)


NOTHING = Declarations()


def key(node: ast.AST) -> Key:
    return node.lineno, node.col_offset  # type: ignore[attr-defined]


def declarations(source: SourceText, tree: ast.Module) -> Declarations:
    """Every declared shape of a file."""
    found = Declarations({}, {}, {}, {})
    heads = _heads(tree) if "jaxtyping" in source.text or "torchtyping" in source.text else {}
    comments = _LIKELY.search(source.text) is not None
    if not heads and not comments and _IN_DOCSTRING.search(source.text) is None:
        return NOTHING
    aliases = {
        node.targets[0].id: node.value
        for node in of_kind(tree.body, ast.Assign)
        if heads and isinstance(node.targets[0], ast.Name)
    }
    reader = _Annotations(source, heads, aliases)
    sections: list[tuple[Key, Declared, bool]] = []
    for node in _statements(tree.body):
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                _read_function(node, reader, found, comments)
            case ast.ClassDef():
                sections += _shape_section(source, node)
                if heads:
                    found.statements.update(_attributes(node, reader))
                    for part in of_kind(node.body, ast.AnnAssign):
                        declared = reader.read(part.annotation)
                        if declared is not None:
                            found.fields[key(part.annotation)] = declared
            case ast.Assign() | ast.AnnAssign() | ast.AugAssign() | ast.Return() if node.value is not None:
                written: Written | None = None
                if heads and isinstance(node, ast.AnnAssign):
                    written = reader.read(node.annotation)
                if written is None and comments:
                    written = _statement_comment(source, node)
                if written is not None:
                    found.statements[key(node)] = written
    for place, declared, is_result in sections:
        (found.results if is_result else found.parameters).setdefault(place, declared)
    return found


def _read_function(
    node: ast.FunctionDef | ast.AsyncFunctionDef, reader: _Annotations, found: Declarations, comments: bool
) -> None:
    """Declarations of the parameters and of the result of a function: annotations before comments before docstrings."""
    if reader.heads:
        for argument in every_parameter(node.args):
            declared = reader.read(argument.annotation)
            if declared is not None:
                found.parameters[key(argument)] = declared
        result = reader.read_result(node.returns)
        if result is not None:
            found.results[key(node)] = result
    if comments:
        for argument, declared in _parameter_comments(reader.source, node):
            found.parameters.setdefault(key(argument), declared)
    described, result = _docstring(reader.source, node)
    for argument, declared in described:
        found.parameters.setdefault(key(argument), declared)
    if result is not None:
        found.results.setdefault(key(node), result)


def _attributes(node: ast.ClassDef, reader: _Annotations) -> Iterator[tuple[Key, Declared]]:
    """The assignments to attributes of which the body of the class declares the shape."""
    shapes = {
        part.target.id: declared
        for part in of_kind(node.body, ast.AnnAssign)
        if isinstance(part.target, ast.Name) and part.value is None
        if (declared := reader.read(part.annotation)) is not None
    }
    methods = [part for part in of_kind(node.body, ast.FunctionDef) if shapes and part.args.args]
    for method in methods:
        own = method.args.args[0].arg
        for part in _statements(method.body):
            target = part.targets[0] if isinstance(part, ast.Assign) else None
            if is_dotted(target, own):
                if target.attr in shapes:
                    yield key(part), shapes[target.attr]


def _statements(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Statements at any depth. Expressions, which are most of a tree, are not looked into."""
    for node in body:
        yield node
        for name in ("body", "orelse", "finalbody"):
            yield from _statements(getattr(node, name, []))
        for part in (*getattr(node, "handlers", ()), *getattr(node, "cases", ())):
            yield from _statements(part.body)


# -- comments ------------------------------------------------------------------------------------------

_BARE = re.compile(r"[A-Z]")
_LIKELY = re.compile(r"#[^\r\n]*[(\[][^()\[\]\r\n]*[)\]]|#[ \t]*[\w*/+-]+,[^\r\n]*[A-Z]")
_LIST = re.compile(r"(?P<open>[(\[])(?P<inner>[^()\[\]]*)[)\]]")
_ARROW = re.compile(r"[-=]+>|→|⇒")
_SAYS_SHAPE = frozenset("shape size dims torch.size".split())
_FILLERS = frozenset("of has with is now becomes be out output result the tensor a".split())
_QUALIFIERS = frozenset("or if when else unless before for in not without except was instead at per".split())
_ALTERNATIVES = frozenset("or if when else unless not without except instead".split())
"""Of the qualifiers, those that say something of a shape from the next sentence, too."""
_OF_EACH = frozenset({"per", "at"})
"""Of the qualifiers, those that before a shape only say what is in it: ``per-sample loss of shape (batch,)``."""
_DIMENSION = re.compile(r"(?P<name>[A-Za-z_]\w*)\s*=\s*(?P<value>\d+)|(?P<number>\d+)|(?P<word>[A-Za-z_]\w*)")
_ARITHMETIC = re.compile(r"[\w\s+\-*/%^.]+")
_IN_FORMULAS = (
    *(ast.BinOp, ast.UnaryOp, ast.Name, ast.Constant, ast.Load),
    *(ast.Add, ast.Sub, ast.Mult, ast.FloorDiv, ast.Mod, ast.Pow, ast.Div, ast.USub),
)
_NAME = re.compile(r"(?<![\w.])[A-Za-z_]\w*(?![\w.])")
_DOTTED = re.compile(r"(?<![\w.])[A-Za-z_][\w.]*")
_BRACES = re.compile(r"\{([^{}]*)\}")
_ANY_NUMBER = ("...", "…", "*")


def _statement_comment(source: SourceText, node: ast.stmt) -> Written | None:
    """The shape beside an assignment to a variable, an attribute or several of them, or a return."""
    target: ast.expr | None = None
    match node:
        case ast.Assign():
            target = node.targets[0]
        case ast.AnnAssign() | ast.AugAssign():
            target = node.target
    begin = _comment_after(source, node)
    if begin is None:
        return None
    if isinstance(target, ast.Tuple):
        return _comment_of_several(source, begin, target)
    if target is not None and not is_reference(target):
        return None
    name = "" if target is None else source.segment(target)
    return _read_comment(source, begin, (name,) if name else ())


def _comment_of_several(source: SourceText, begin: int, target: ast.Tuple) -> DeclaredParts | None:
    """The shape beside an assignment to several variables: it is that of the one which it names, or which alone is kept."""
    names = [part.id if isinstance(part, ast.Name) else "" for part in target.elts]
    for place, name in enumerate(names):
        declared = _read_comment(source, begin, (name,)) if name.strip("_") else None
        alone = not any(other.strip("_") for other in (*names[:place], *names[place + 1 :])) and "" not in names
        if declared is not None and (alone or re.match(rf"\s*{name}\b", source.text[begin:])):
            return DeclaredParts(tuple(declared if one == place else None for one in range(len(names))), False, False)
    return None


def _comment_after(source: SourceText, node: ast.AST, between: str = "") -> int | None:
    """Where the comment behind a node begins, on its last line; `between`: characters that may come first."""
    offset = source.offset(source.end_of(node))
    text = source.text
    while offset < len(text) and text[offset] in " \t" + between:
        offset += 1
    return offset + 1 if text[offset : offset + 1] == "#" else None


def _parameter_comments(
    source: SourceText, function: ast.FunctionDef | ast.AsyncFunctionDef
) -> Iterator[tuple[ast.arg, Declared]]:
    """Shapes beside parameters, each on a line of its own, and ``# x: (B, T)`` above the first statement."""
    arguments = list(every_parameter(function.args))
    by_line: dict[int, list[ast.arg]] = {}
    for argument in arguments:
        by_line.setdefault(argument.lineno, []).append(argument)
    defaults = [value for value in (*function.args.defaults, *function.args.kw_defaults) if value is not None]
    first = function.body[0]
    own = [argument for argument in arguments if argument.arg not in ("self", "cls")]
    for line, here in by_line.items():
        last: ast.AST = here[-1]
        for default in defaults:
            if default.lineno == line and default.end_lineno == line and default.col_offset > here[-1].col_offset:
                last = default
        if line == function.lineno and len(own) != 1:
            continue
        begin = _comment_after(source, last, "" if line == function.lineno else ",")
        if begin is not None and len(here) == 1:
            declared = _read_comment(source, begin, (here[0].arg,))
            if declared is not None:
                yield here[0], declared
    named = {argument.arg: argument for argument in own}
    header = max((part.end_lineno or 0 for part in (*arguments, *defaults) if hasattr(part, "end_lineno")), default=0)
    for number in range(max(header, function.lineno), first.lineno):
        text = source.line(number)
        stripped = text.lstrip()
        at = text.rfind("#") if number <= header or not stripped.startswith("#") else len(text) - len(stripped)
        if at < 0:
            continue
        name = re.match(r"#\s*([A-Za-z_]\w*)\s*[:=]", text[at:])
        argument_of = named.get(name[1]) if name is not None else None
        if argument_of is not None:
            begin = source._starts[number - 1] + at + 1
            declared = _read_comment(source, begin, (argument_of.arg,))
            if declared is not None:
                yield argument_of, declared


def _read_comment(source: SourceText, begin: int, names: tuple[str, ...]) -> Declared | None:
    """The shape that a comment states of the variable it stands beside, None where it states something else."""
    end = min(
        len(source.text),
        *(found for mark in "\r\n#" if (found := source.text.find(mark, begin)) >= 0),
        len(source.text),
    )
    text = source.text[begin:end]
    arrows = list(_ARROW.finditer(text))
    at = arrows[-1].end() if arrows else 0
    match = _LIST.search(text, at)
    if match is None:
        return None if arrows else _bare_list(text, begin)
    words = [word for word in re.split(r"[\s:=,]+", text[at : match.start()].strip().lower()) if word]
    known = {part for name in names for part in (name.lower(), f"{name.lower()}.shape", f"`{name.lower()}`")}
    says = any(word in _SAYS_SHAPE or word.endswith(".shape") for word in words)
    if not says and arrows and any(word not in known for word in words):
        return None
    if any(word not in known | _SAYS_SHAPE | _FILLERS for word in words):
        return None
    tail = text[match.end() :]
    if re.search(r"[()\[\]@×]|\s[x*+|/]\s", tail):
        return None
    exact = not _QUALIFIERS & set(re.findall(r"[a-z]+", tail.lower()))
    start = begin + match.start("inner")
    made = _listed(match["inner"], start)
    if made is None:
        return None
    dims, spread, comma = made
    if len(dims) < 2 and not says and not comma and spread is None:
        return None
    named = says or any(word in known for word in words)
    separator = ", " if "," in match["inner"] or len(dims) < 2 else " x "
    return Declared("comment", dims, spread, start, begin + match.end("inner"), named, exact, separator)


def _bare_list(text: str, begin: int) -> Declared | None:
    """The shape of a comment that is nothing but sizes: ``# B, H*W, C``."""
    start = begin + len(text) - len(text.lstrip())
    made = _listed(text.strip(), start) if "," in text else None
    if made is None or made[1] is not None or made[2] or len(made[0]) < 2:
        return None
    if any(part.size is None and not part.formula for part in made[0]) or not _BARE.search(text):
        return None
    return Declared("comment", made[0], None, start, start + len(text.strip()), named=False, bare=True)


_TIMES = re.compile(r"(?<![\w.])(\d+)(?=[A-Za-z_])")
"""The number in ``2N``, which stands for ``2*N``."""


def _listed(text: str, start: int) -> tuple[tuple[Dimension, ...], int | None, bool] | None:
    """The sizes of a list, where any number of them may stand, and whether it ends with a comma."""
    splitter = r"," if "," in text else r"(?<=\s)[x×](?=\s)|×|(?<=\d)x(?=\d)"
    if "," not in text and re.search(r"[A-Z]x|[A-Za-z]x[A-Z\d]|\dx[A-Za-z]", text):
        return None  # ``NxCxHxW`` is no name of one size
    dims: list[Dimension] = []
    spread: int | None = None
    offset = 0
    pieces = re.split(f"({splitter})", text)
    for index in range(0, len(pieces), 2):
        piece = pieces[index]
        written = piece.strip()
        word = _TIMES.sub(r"\1*", written.replace(FILL, "").strip())
        at = start + offset + len(piece) - len(piece.lstrip())
        offset += len(piece) + (len(pieces[index + 1]) if index + 1 < len(pieces) else 0)
        if not word and index == len(pieces) - 1 and index:
            return tuple(dims), spread, True
        if word in _ANY_NUMBER or (word.startswith("*") and word[1:].isidentifier()):
            if spread is not None:
                return None
            spread = len(dims)
            continue
        match = _DIMENSION.fullmatch(word)
        size: int | str | None = None
        if match is not None:
            number = match["number"] or match["value"]
            size = int(number) if number else match["word"]
        elif not word or not _ARITHMETIC.fullmatch(word) or len(word.split()) > 5 or "." in word:
            return None
        formula = "" if match is not None else _formula(word)
        dims.append(Dimension(None if size in ("_", "None") else size, at, at + len(written), formula=formula))
    return tuple(dims), spread, False


def _formula(text: str, *also: type[ast.AST]) -> str:
    """The text of a size, if it is one that is computed from others. `also`: kinds of nodes that may be in it."""
    try:
        tree = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError):
        return ""
    return text.strip() if all_are(ast.walk(tree), *_IN_FORMULAS, *also) else ""


def _with_arguments(text: str) -> tuple[str, frozenset[str]]:
    """The text of a size as Python, ``2*(self.n)`` for ``2*{self.n}``, and the names and attributes between braces."""
    parts = [_formula(part, ast.Attribute) for part in _BRACES.findall(text)]
    formula = _formula(_BRACES.sub(r"(\1)", text), ast.Attribute) if all(parts) else ""
    return formula, frozenset(name for part in parts for name in _DOTTED.findall(part))


# -- docstrings ------------------------------------------------------------------------------------------

_QUOTES = re.compile(r"^[rRuU]?(\"\"\"|'''|\"|')|(\"\"\"|'''|\"|')$")
_IN_DOCSTRING = re.compile(r"(?i)[(\[]\s*[A-Za-z_]\w*\s*(,[^()\[\]\n]*)?[)\]]|->")
_NAMED = re.compile(r"\s*[A-Za-z_]\w*\s*:(?=\s*[(\[])")
_SECTION = re.compile(
    r"(?i)^\s*(args|arguments|parameters|params|inputs?|returns?|outputs?|yields|raises|examples?|notes?|shapes?|attributes|references|see also|todo|warning)\s*:?\s*$"
)
_RESULT = re.compile(r"(?i)^\s*(?::returns?|returns?|outputs?|return value)\s*:\s*(?=\S)")
_PARAMETER = re.compile(
    r"^\s*(?::param(?:eter)?\s+(?:[\w.\[\]]+\s+)?|:arg\s+|[-*]\s+)?[`*]*(?P<name>[A-Za-z_]\w*)[`*]*\s*(?P<type>\([^()]*\))?\s*:(?=\s*\S)"
)
_DEFINITIONS = re.compile(r"\bwhere\b|\.\. math::")
"""Where the description of a shape goes on with what its sizes are."""
_BATCH_NAMES = frozenset("b n bs bsz batch batch_size batchsize nb num_samples samples".split())
_BEFORE_SHAPE = re.compile(
    r"(?i)(\bshape\b|\bshaped\b|\bsizes?\b|\bdims?\b|\bdimensions?\b|\btensors?\b)[\s:=`\'*]*(?:of\s+)?(?:(?:shape|size)s?)?[\s:=,`\'*]*$"
)
_TYPES = frozenset("tensor array ndarray float int bool str list tuple dict optional none any callable".split())
_OTHER_LISTS = frozenset(
    "x y z x1 x2 y1 y2 x0 y0 w h height width min max low high lo hi left right top bottom start end mean std".split()
)


def _docstring(
    source: SourceText, function: ast.FunctionDef | ast.AsyncFunctionDef
) -> tuple[list[tuple[ast.arg, Declared]], Written | None]:
    """The shapes of parameters and of the result that a docstring states, in the forms of Google, NumPy and Sphinx."""
    first = as_kind(function.body[0], ast.Expr)
    if not (first is not None and is_text(first.value)):
        return [], None
    begin, end = source.offset(source.start_of(first)), source.offset(source.end_of(first))
    text = plain(_QUOTES.sub(lambda quotes: " " * len(quotes[0]), source.text[begin:end]))
    if _IN_DOCSTRING.search(text) is None:
        return [], None
    own = {argument.arg: argument for argument in every_parameter(function.args) if argument.arg not in ("self", "cls")}
    entries = list(_entries(text, frozenset(own)))
    found: list[tuple[ast.arg, Declared]] = []
    results: list[Declared | None] = []
    several: DeclaredParts | None = None
    for name, start, stop in entries:
        argument = own.get(name)
        typed = argument is not None and argument.annotation is not None
        annotation = function.returns if name == "return" else argument.annotation if argument is not None else None
        sure = annotation is not None and ast.unparse(annotation).rpartition(".")[2] == "Tensor"
        arrow = _ARROW.search(text, start, stop) if name != "return" else None
        before = arrow.start() if arrow is not None else stop
        declared = None if typed and not sure else _described(text, start, before, begin, sure)
        if arrow is not None:
            named = _NAMED.match(text, arrow.end(), stop)
            results.append(_described(text, named.end() if named else arrow.end(), stop, begin, False))
        if name == "return":
            results.append(declared)
            several = _named_results(text, start, stop, begin)
        elif argument is not None and declared is not None:
            found.append((argument, declared))
    shapes = [*(declared for _, declared in found), *results]
    if any(part.formula for declared in of_kind(shapes, Declared) for part in declared.dims):
        found = [(argument, replace(declared, strict=True)) for argument, declared in found]
        results = [declared and replace(declared, strict=True) for declared in results]
    return found, only(results) or (several if len(results) == 1 else None)


_RESULT_NAME = re.compile(r"[ \t]*(?:[-*][ \t]+)?[`*]*(?P<name>[A-Za-z_]\w*)[`*]*[ \t]*(?:\([^()\n]*\)[ \t]*)?:")


def _named_results(text: str, start: int, stop: int, begin: int) -> DeclaredParts | None:
    """The shapes of several results, each described under its name on a line of its own."""
    entries: list[tuple[int, int, str]] = []
    offset = text.rfind("\n", 0, start) + 1
    for line in text[offset:stop].splitlines(keepends=True):
        named = _RESULT_NAME.match(line)
        depth = len(line) - len(line.lstrip())
        if named is not None and (not entries or depth <= entries[0][0]):
            # What stands further left than the first says what they are together.
            entries = [one for one in entries if one[0] == depth]
            entries.append((depth, offset + named.end(), named["name"]))
        elif line.strip() and entries and depth <= entries[0][0]:
            return None
        offset += len(line)
    if len(entries) < 2 or len({name for *_, name in entries}) < len(entries):
        return None
    ends = [text.rfind("\n", 0, at) for _, at, _ in entries[1:]] + [stop]
    parts = tuple(_described(text, at, end, begin, False) for (_, at, _), end in zip(entries, ends))
    return DeclaredParts(parts, False, stated=False) if any(parts) else None


_OF_SECTION = re.compile(r"^[ \t]*[-*]?[ \t]*[`*]*(?P<name>[A-Za-z_]\w*)[`*]*[ \t]*:[ \t]*(?=\S)", re.MULTILINE)


def _shape_section(source: SourceText, cls: ast.ClassDef) -> Iterator[tuple[Key, Declared, bool]]:
    """The shapes of the input and of the output of a forward that the section ``Shape:`` in the docstring of a module states, and
    which of the two each is."""
    forward = next((part for part in of_kind(cls.body, ast.FunctionDef) if part.name == "forward"), None)
    first = as_kind(cls.body[0], ast.Expr)
    if forward is None or first is None or not is_text(first.value):
        return
    begin, end = source.offset(source.start_of(first)), source.offset(source.end_of(first))
    text = plain(_QUOTES.sub(lambda quotes: " " * len(quotes[0]), source.text[begin:end]))
    head = re.search(r"(?im)^[ \t]*shapes?[ \t]*:[ \t]*$", text)
    if head is None:
        return
    after = [line for line in re.finditer(r"(?m)^.*$", text[head.end() :]) if _SECTION.match(line[0])]
    stop = head.end() + after[0].start() if after else len(text)
    entries = list(_OF_SECTION.finditer(text, head.end(), stop))
    required = by_position(forward.args)[1:]
    required = required[: len(required) - len(forward.args.defaults)]
    named = {argument.arg: argument for argument in required}
    if len(required) == 1:
        named.setdefault("input", required[0])
    for number, entry in enumerate(entries):
        until = entries[number + 1].start() if number + 1 < len(entries) else stop
        declared = _described(text, entry.end(), until, begin, True)
        name = entry["name"].lower()
        if declared is None or [one["name"] for one in entries].count(entry["name"]) > 1:
            continue
        if name == "output":
            yield key(forward), replace(declared, strict=True), True
        elif name in named:
            yield key(named[name]), replace(declared, strict=True), False


def _entries(text: str, names: frozenset[str]) -> Iterator[tuple[str, int, int]]:
    """The description of each parameter in a docstring, and of the result (``return``): where the description begins and ends."""
    current: tuple[str, int] | None = None
    section, offset, indent = "", 0, 0
    for line in text.splitlines(keepends=True):
        at, offset = offset, offset + len(line)
        bare = line.strip()
        depth = len(line) - len(line.lstrip())
        heading = _SECTION.match(line)
        parameter = _PARAMETER.match(line)
        own = parameter is not None and parameter["name"] in names  # which may be called `output`
        result = None if own and section != "return" else _RESULT.match(line)
        if bare and not bare.strip("-=~"):
            continue  # the line below a heading
        ends = heading or result or not bare or own
        if current is not None and (ends or (depth <= indent and section != "return")):
            yield (*current, at)
            current = None
        if heading:
            section = "return" if heading[1].lower().startswith(("return", "output")) else heading[1].lower()
        elif result:
            current, indent = ("return", at + result.end()), depth
        elif section == "return" and bare:
            current = current or ("return", at)
        elif parameter and own and not section.startswith(("raise", "example")):
            current, indent = (
                (parameter["name"], at + (parameter.start("type") if parameter["type"] else parameter.end())),
                depth,
            )
        elif section.startswith("param") and (found := re.match(r"\s*(\w+)\s*:", line)) and found[1] in names:
            current, indent = (found[1], at + found.end()), depth
    if current is not None:
        yield (*current, offset)


def _described(text: str, start: int, stop: int, begin: int, sure: bool) -> Declared | None:
    """The one shape in a description; None where there are several, or none that is certainly one."""
    part = text[start:stop]
    found: list[tuple[re.Match[str], tuple[Dimension, ...], int | None, bool]] = []
    for match in _LIST.finditer(part):
        made = _listed(match["inner"], begin + start + match.start("inner"))
        before = part[: match.start()]
        if made is None or re.search(r"[\w\])]$", before):
            continue
        dims, spread, comma = made
        # A formula alone is a shape where a comma says so: ``(2N,)``. By ``[N*M]``, two dimensions may be meant.
        words = [size.size for size in dims if isinstance(size.size, str)] or [
            size.formula for size in dims if size.formula and (comma or len(dims) > 1)
        ]
        if not words or (len(dims) < 2 and not comma and not _BEFORE_SHAPE.search(before)):
            continue
        if len(dims) == 1 and words and words[0].lower() in _TYPES:
            continue  # "tensor (Tensor): the image"
        found.append((match, dims, spread, _BEFORE_SHAPE.search(before) is not None))
    if len(found) != 1 or "\\" in _DEFINITIONS.split(part)[0]:
        return None
    match, dims, spread, says = found[0]
    before, after = _clause(part, match) if says else (part[: match.start()], part[match.end() :])
    beside = re.split(r"[:;.\n]", after)[0] if says else after
    qualified = _QUALIFIERS & _words(beside) or _QUALIFIERS - _OF_EACH & _words(before)
    if qualified or _ALTERNATIVES & _words(after) or "..." in part:
        return None
    sizes = [str(size.size).lower() for size in dims]
    leads = not re.sub(r":math:|\([^()]*\)|[\s`*:,.]|\b(an?|the|torch|Tensor|tensor)\b", "", part[: match.start()])
    named = (leads and sure) or ((leads or sure) and sizes[0] in _BATCH_NAMES)
    if not says and (not named or set(sizes) & _OTHER_LISTS - {"h", "w", "height", "width"}):
        return None
    inner = begin + start + match.start("inner")
    dtypes = {(found[1] or found[2]).lower() for found in _DTYPE.finditer(before)}
    dtype = _DTYPES_IN_WORDS.get(dtypes.pop(), "") if len(dtypes) == 1 else ""
    return Declared("docstring", dims, spread, inner, inner + len(match["inner"]), dtype=dtype)


_DTYPE = re.compile(
    r"\b(Long|Int|Float|Bool)Tensor\b|\b(long|integer|int64|float|bool|boolean)[`\s]+tensors?\b", re.IGNORECASE
)
_DTYPES_IN_WORDS = dict.fromkeys(("long", "int", "int64", "integer"), "Integer") | {
    "float": "Float",
    "bool": "Bool",
    "boolean": "Bool",
}
"""The classes of dtypes that a description names; by an integer and a float any of their sizes may be meant."""


def _clause(part: str, listed: re.Match[str]) -> tuple[str, str]:
    """The words about a shape, before and behind it: ``shape`` of "1 for real tokens, shape (batch, length)"."""
    before = _BEFORE_SHAPE.search(part[: listed.start()])
    comma = part.rfind(",", 0, before.start()) if before is not None else -1
    return part[comma + 1 : listed.start()], part[listed.end() :]


def _words(text: str) -> set[str]:
    return set(re.findall(r"\b[a-z]+\b", text.replace(FILL, "").lower()))


# -- annotations -----------------------------------------------------------------------------------------

_JAXTYPING = re.compile(r"(Float|Int|UInt|Complex|BFloat|Bool|Integer|Inexact|Real|Num|Shaped|Key)\d*")


def _heads(tree: ast.Module) -> dict[str, str]:
    """Names of imported types that declare shapes, and of their modules, with the library that each is from."""
    found: dict[str, str] = {}
    for node in _statements(tree.body):
        match node:
            case ast.ImportFrom() if node.module in ("jaxtyping", "torchtyping"):
                for alias in node.names:
                    if node.module == "torchtyping" and alias.name == "TensorType":
                        found[alias.asname or alias.name] = "torchtyping"
                    elif node.module == "jaxtyping" and _JAXTYPING.fullmatch(alias.name):
                        found[alias.asname or alias.name] = f"jaxtyping.{alias.name}"
            case ast.Import():
                for alias in node.names:
                    if alias.name in ("jaxtyping", "torchtyping"):
                        found[f"{alias.asname or alias.name}."] = alias.name
    return found


class _Annotations:
    """Reads the annotations of one file."""

    def __init__(self, source: SourceText, heads: dict[str, str], aliases: dict[str, ast.expr]) -> None:
        self.source = source
        self.heads = {name: library.partition(".")[0] for name, library in heads.items()}
        self.dtypes = {name: library.partition(".")[2] for name, library in heads.items() if "." in library}
        self.aliases = aliases

    def read(self, node: ast.expr | None, depth: int = 0) -> Declared | None:
        """The shape that an annotation declares; of a union, where only one of its types declares one."""
        if node is None or depth > 4:
            return None
        match node:
            case ast.Constant(value=str()):
                return self.read(self._unquoted(node), depth + 1)
            case ast.Name() if node.id in self.aliases:
                return self.read(self.aliases[node.id], depth + 1)
            case ast.BinOp(op=ast.BitOr()):
                return self._only([node.left, node.right], depth)
        if not isinstance(node, ast.Subscript):
            return None
        library = self._library(node.value)
        if library == "jaxtyping":
            return self._jaxtyping(node)
        if library == "torchtyping":
            return self._torchtyping(node)
        name = ast.unparse(node.value).rpartition(".")[2]
        if name in ("Optional", "Union"):
            return self._only(parts_of_tuple(node.slice), depth)
        return None

    def read_result(self, node: ast.expr | None, depth: int = 0) -> Written | None:
        """The declaration of a result by its annotation, which may be a tuple of tensors."""
        if is_text(node):
            node = self._unquoted(node)
        if isinstance(node, ast.Name) and depth < 4:
            node = self.aliases.get(node.id, node)
        head = ast.unparse(node.value).rpartition(".")[2] if isinstance(node, ast.Subscript) else ""
        if not isinstance(node, ast.Subscript) or head not in ("tuple", "Tuple") or depth > 4:
            return self.read(node)
        items = parts_of_tuple(node.slice)
        alike = len(items) == 2 and is_literal(items[1], ...)
        parts = tuple(self.read_result(item, depth + 1) for item in (items[:1] if alike else items))
        return DeclaredParts(parts, alike)

    def _unquoted(self, node: ast.Constant) -> ast.expr | None:
        """The type in a quoted annotation, with its places in the text."""
        literal = self.source.segment(node)
        match = re.fullmatch(r"(\"\"\"|'''|\"|')([^\\\r\n]*)\1", literal)
        if match is None:
            return None
        before = node.col_offset + len(match[1])
        blank = "\n" * (node.lineno - 1) + " " * (before if node.lineno > 1 else before - 1)
        try:
            return ast.parse(f"({blank}{match[2]})", mode="eval").body
        except (SyntaxError, ValueError):
            return None

    def _only(self, nodes: list[ast.expr], depth: int) -> Declared | None:
        found = [self.read(node, depth + 1) for node in nodes if not is_literal(node, None)]
        return only(found)

    def _library(self, head: ast.expr) -> str | None:
        if isinstance(head, ast.Name):
            return self.heads.get(head.id)
        if is_dotted(head):
            library = self.heads.get(f"{head.value.id}.")
            fits = _JAXTYPING.fullmatch(head.attr) if library == "jaxtyping" else head.attr == "TensorType"
            return library if fits else None
        return None

    def _jaxtyping(self, node: ast.Subscript) -> Declared | None:
        """``Float[Tensor, "batch 3 *rest #channels name=4 _ ..."]``."""
        parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else []
        if len(parts) != 2 or not is_text(parts[1]):
            return None
        literal = self.source.segment(parts[1])
        inner = re.fullmatch(r"\w*(\"\"\"|'''|\"|')(.*)\1", literal, re.DOTALL)
        if inner is None or "\\" in literal:
            return None
        start = self.source.offset(self.source.start_of(parts[1])) + inner.start(2)
        dims: list[Dimension] = []
        spread: int | None = None
        spread_name = ""
        for match in re.finditer(r"\S+", inner[2]):
            word = match[0].lstrip("?")
            if word == "..." or word.lstrip("#").startswith("*"):
                if spread is not None:
                    return None
                spread = len(dims)
                spread_name = word[1:] if word[1:].isidentifier() and not word.startswith("*_") else ""
                continue
            may_be_one = word.startswith("#")
            word = word.lstrip("#")
            found = _DIMENSION.fullmatch(word)
            size: int | str | None = None
            formula = name = ""
            passed: frozenset[str] = frozenset()
            if found is not None:
                number = found["number"] or found["value"]
                size = int(number) if number else found["word"]
                size = None if isinstance(size, str) and size.startswith("_") else size
                name = found["name"] or ""
            else:
                formula, passed = _with_arguments(word)
            dims.append(Dimension(size, start + match.start(), start + match.end(), may_be_one, formula, name, passed))
        head = ast.unparse(node.value).rpartition(".")[2]
        dtype = self.dtypes.get(head, head)
        return Declared(
            "annotation",
            tuple(dims),
            spread,
            start,
            start + len(inner[2]),
            separator=" ",
            spread_name=spread_name,
            dtype=dtype,
        )

    def _torchtyping(self, node: ast.Subscript) -> Declared | None:
        """``TensorType["batch", 3, "channels": 4, ..., float]``."""
        parts = parts_of_tuple(node.slice)
        dims: list[Dimension] = []
        spread: int | None = None
        for part in parts:
            size: int | str | None = None
            value: ast.expr | None = part
            if isinstance(part, ast.Slice):
                name, value = part.lower, part.upper
                size = name.value if is_text(name) else None
            if is_literal(value, ...):
                if spread is not None:
                    return None
                spread = len(dims)
                continue
            if isinstance(value, ast.Constant) and isinstance(value.value, int | str):
                size = value.value
            elif isinstance(value, ast.UnaryOp) and ast.unparse(value) == "-1":
                size = as_kind(size, str)
            elif not isinstance(part, ast.Slice):
                continue  # a dtype, or is_named
            start, end = self.source.start_of(part), self.source.end_of(part)
            dims.append(Dimension(size, self.source.offset(start), self.source.offset(end)))
        if not dims and spread is None:
            return None
        start, end = self.source.start_of(node.slice), self.source.end_of(node.slice)
        return Declared("annotation", tuple(dims), spread, self.source.offset(start), self.source.offset(end))


def counted(name: str) -> str:
    """The things that a size counts: ``priors`` of ``num_priors``, ``n_priors`` and ``len_priors``."""
    return re.sub(r"^(n|nb|num|number|no|len|length)_(of_)?|_(num|count|len|length)$", "", name)
