"""The one way to make an edit: replace a node, insert a line beside a statement, wrap a statement in a block."""

from __future__ import annotations

import ast
import difflib
import itertools
import os
import re
from collections.abc import Callable, Iterable

from torchsleuth.schema import Edit, Position
from torchsleuth.sifting import first_of
from torchsleuth.syntax.forms import keyword_of, nodes_in
from torchsleuth.syntax.text import SourceText
from torchsleuth.syntax.trees import index

_COMMENT = re.compile(r"#[^\r\n]*")


InsertLine = Callable[[SourceText, ast.stmt, str], Edit]


def replace(source: SourceText, node: ast.AST, text: str) -> Edit:
    return Edit(source.path, source.start_of(node), source.end_of(node), text)


def replace_between(source: SourceText, first: ast.AST, last: ast.AST, text: str) -> Edit:
    """All from the one expression to the other."""
    return Edit(source.path, source.start_of(first), source.end_of(last), text)


def owner(source: SourceText, node: ast.Attribute) -> str:
    """What an attribute is of, as it is written, with its parentheses: ``(a + b)`` of ``(a + b).T``."""
    return source.segment(node)[: -len(node.attr)].rstrip().removesuffix(".").rstrip()


def insert(source: SourceText, position: Position, text: str) -> Edit:
    return Edit(source.path, position, position, text)


def insert_after_node(source: SourceText, node: ast.AST, text: str) -> Edit:
    return insert(source, source.end_of(node), text)


def indentation(source: SourceText, line: int) -> str:
    text = source.line(line)
    return text[: len(text) - len(text.lstrip())]


def line_ending(source: SourceText) -> str:
    return "\r\n" if "\r\n" in source.text else "\n"


def next_line(source: SourceText, line: int) -> str:
    """The end of a line, and the indentation of this one for the next."""
    return line_ending(source) + indentation(source, line)


def insert_line_before(source: SourceText, statement: ast.stmt, text: str) -> Edit:
    """A new line with the statement's indentation, above the statement."""
    line = statement.lineno
    return insert(source, Position(line, 1), indentation(source, line) + text + line_ending(source))


def insert_line_after(source: SourceText, statement: ast.stmt, text: str) -> Edit:
    """A new line with the statement's indentation, below the statement and any comment on its last line."""
    last = statement.end_lineno or statement.lineno
    end = Position(last, len(source.line(last)) + 1)
    return insert(source, end, next_line(source, statement.lineno) + text)


def wrap(source: SourceText, statement: ast.stmt, header: str) -> tuple[Edit, ...]:
    """Put a statement into a block of its own."""
    return wrap_all(source, [statement], header)


def wrap_all(source: SourceText, statements: list[ast.stmt], header: str) -> tuple[Edit, ...]:
    """Put statements that follow each other into a block: the header above them, every one of their lines indented one
    step further.

    Lines inside a string that spans several lines keep their text; comments and blank lines stay as they are.
    """
    first, last = statements[0].lineno, statements[-1].end_lineno or statements[-1].lineno
    indent = indentation(source, first)
    step = "\t" if indent.endswith("\t") else "    "
    frozen = {line for statement in statements for line in _lines_inside_strings(statement)}
    edits = [insert(source, Position(first, 1), indent + header + line_ending(source) + step)]
    for line in range(first + 1, last + 1):
        if line not in frozen and source.line(line).strip():
            edits.append(insert(source, Position(line, 1), step))
    return tuple(edits)


def relocate(source: SourceText, statements: list[ast.stmt], place: ast.stmt) -> tuple[Edit, ...]:
    """Move whole lines of statements that follow each other below another statement, to its indentation. Empty where they
    share their lines with others, or hold a string of several lines."""
    first, last = statements[0].lineno, statements[-1].end_lineno or statements[-1].lineno
    old, new = indentation(source, first), indentation(source, place.lineno)
    lines = [source.line(line) for line in range(first, last + 1)]
    alone = source.start_of(statements[0]).column == len(old) + 1 and not source.line(last).rstrip().endswith(";")
    if not alone or any(_lines_inside_strings(statement) for statement in statements):
        return ()
    if any(line.strip() and not line.startswith(old) for line in lines):
        return ()
    ending = line_ending(source)
    moved = "".join(ending + (new + line[len(old) :] if line.strip() else "") for line in lines)
    end = place.end_lineno or place.lineno
    below = insert(source, Position(end, len(source.line(end)) + 1), moved)
    # The line break before them goes with them: the last line of a file may have none behind.
    cut = Edit(
        source.path, Position(first - 1, len(source.line(first - 1)) + 1), Position(last, len(lines[-1]) + 1), ""
    )
    if below.start in (cut.start, cut.end):
        return (Edit(source.path, cut.start, cut.end, moved),)
    return (below, cut)


def unwrap(source: SourceText, block: ast.With) -> tuple[Edit, ...]:
    """Dissolve a ``with`` block: its first line goes, its body moves out to its indentation. Empty where the body is on
    the same line."""
    first, last = block.body[0], block.end_lineno or block.lineno
    if first.lineno == block.lineno:
        return ()
    inner, outer = indentation(source, first.lineno), indentation(source, block.lineno)
    if not inner.startswith(outer):
        return ()
    edits = [Edit(source.path, Position(block.lineno, 1), Position(first.lineno, 1), "")]
    frozen = {line for statement in block.body for line in _lines_inside_strings(statement)}
    for line in range(first.lineno, last + 1):
        text = source.line(line)
        if line not in frozen and text.startswith(inner):
            edits.append(Edit(source.path, Position(line, len(outer) + 1), Position(line, len(inner) + 1), ""))
    return tuple(edits)


def outdent(source: SourceText, statement: ast.stmt, inner: str, outer: str) -> tuple[Edit, ...]:
    """Move the lines of a statement from one indentation to a smaller one. Empty where they have not got the first."""
    lines = range(statement.lineno, (statement.end_lineno or statement.lineno) + 1)
    if not inner.startswith(outer) or not source.line(statement.lineno).startswith(inner):
        return ()
    frozen = _lines_inside_strings(statement)
    return tuple(
        Edit(source.path, Position(line, len(outer) + 1), Position(line, len(inner) + 1), "")
        for line in lines
        if line not in frozen and source.line(line).startswith(inner)
    )


def remove_line(source: SourceText, line: int) -> Edit:
    return Edit(source.path, Position(line, 1), Position(line + 1, 1), "")


def without_attribute(source: SourceText, node: ast.AST, name: str) -> Edit | None:
    """Take the last ``.name`` or ``.name()`` off an expression that ends with it."""
    text = source.segment(node)
    dot = text.rfind(f".{name}")
    if dot < 0:
        return None
    start = source.position(source.offset(source.start_of(node)) + dot)
    return Edit(source.path, start, source.end_of(node), "")


def _lines_inside_strings(statement: ast.stmt) -> set[int]:
    lines: set[int] = set()
    for node in nodes_in(statement, ast.Constant, ast.JoinedStr):
        if isinstance(getattr(node, "value", ""), str | bytes):
            lines.update(range(node.lineno + 1, (node.end_lineno or node.lineno) + 1))
    return lines


def add_argument(source: SourceText, call: ast.Call, text: str) -> Edit:
    """An argument more, at the end of a call; another value for a keyword that it has."""
    name, equals, value = text.partition("=")
    given_already = keyword_of(call, name.strip()) if equals else None
    if given_already is not None:
        return replace(source, given_already.value, value.strip())
    close = source.offset(source.end_of(call)) - 1
    given: list[ast.AST] = [*call.args, *call.keywords]
    if not given:
        return insert(source, source.position(close), text)
    last = max(given, key=source.end_of)
    start = source.offset(source.end_of(last))
    code = _COMMENT.sub(lambda found: " " * len(found[0]), source.text[start:close])
    kept = start + len(code.rstrip())
    if not code.rstrip().endswith(","):
        return insert(source, source.position(kept), f", {text}")
    if "\n" not in code and "\r" not in code:
        return insert(source, source.position(close), text if source.text[close - 1].isspace() else f" {text}")
    indent = indentation(source, source.start_of(last).line)
    return insert(source, source.position(kept), f"{line_ending(source)}{indent}{text},")


def set_keyword(source: SourceText, call: ast.Call, name: str, text: str) -> Edit:
    """A keyword argument of a call with another value, or one more."""
    given = keyword_of(call, name)
    return add_argument(source, call, f"{name}={text}") if given is None else replace(source, given.value, text)


def remove_keyword(source: SourceText, call: ast.Call, keyword: ast.keyword) -> Edit:
    """Delete a keyword argument of a call together with the comma that separates it."""
    text, start, end = source.text, source.offset(source.start_of(keyword)), source.offset(source.end_of(keyword))
    before = len(text[:start].rstrip())
    if text[before - 1] == ",":
        start = before - 1
    elif text[end:].lstrip().startswith(","):
        end += text[end:].index(",") + 1
        end += len(text[end:]) - len(text[end:].lstrip(" \t"))
    return Edit(source.path, source.position(start), source.position(end), "")


def deep_copy(source: SourceText, tree: ast.Module, node: ast.AST) -> tuple[Edit, ...]:
    """``copy.deepcopy(…)`` around an expression, and the import of it where the file lacks one."""
    imports = [part for part in tree.body if isinstance(part, ast.ImportFrom) and part.module == "copy"]
    plain = any(alias.name == "deepcopy" and alias.asname is None for part in imports for alias in part.names)
    imported = () if plain else add_import(source, tree, "import copy")
    text = f"{'deepcopy' if plain else 'copy.deepcopy'}({source.segment(node)})"
    return (*imported, replace(source, node, text))


def add_import(source: SourceText, tree: ast.Module, statement: str) -> tuple[Edit, ...]:
    """The import on a line of its own below the file's first imports, nothing where the file has it already."""
    wanted = ast.dump(ast.parse(statement).body[0])
    if any(ast.dump(node) == wanted for node in tree.body):
        return ()
    documented = bool(tree.body) and isinstance(tree.body[0], ast.Expr) and isinstance(tree.body[0].value, ast.Constant)
    head = list(itertools.takewhile(lambda node: isinstance(node, ast.Import | ast.ImportFrom), tree.body[documented:]))
    above = head[-1] if head else tree.body[0] if documented else None
    if above is None:
        return (insert(source, Position(1, 1), statement + line_ending(source)),)
    return (insert_line_after(source, above, statement),)


def remove_element(source: SourceText, elements: list[ast.expr], index: int) -> Edit:
    """Delete one argument of a call together with the comma that separates it."""
    node = elements[index]
    if index + 1 < len(elements):
        return Edit(source.path, source.start_of(node), source.start_of(elements[index + 1]), "")
    if index > 0:
        return Edit(source.path, source.end_of(elements[index - 1]), source.end_of(node), "")
    return replace(source, node, "")


def remove_entry(source: SourceText, given: ast.Dict, index: int) -> Edit:
    """Delete one entry of a dict together with the comma that separates it."""
    key, value = given.keys[index], given.values[index]
    following = given.keys[index + 1] if index + 1 < len(given.keys) else None
    if key is not None and following is not None:
        return Edit(source.path, source.start_of(key), source.start_of(following), "")
    start = source.end_of(given.values[index - 1]) if index > 0 else source.start_of(key or value)
    return Edit(source.path, start, source.end_of(value), "")


def meet(one: Edit, other: Edit) -> bool:
    """Whether two edits touch; the same one twice, such as an import that two fixes need, does not."""
    if one.path != other.path or one == other:
        return False
    return one.start <= other.end and other.start <= one.end


def joined(changes: Iterable[Edit]) -> tuple[Edit, ...]:
    """Edits, each once; whole lines that are put in at one place become one insertion, in their order."""
    lines: dict[tuple[str, Position], Edit] = {}
    others: list[Edit] = []
    for edit in dict.fromkeys(changes):
        if edit.start == edit.end and edit.start.column == 1 and edit.new_text.endswith(("\n", "\r")):
            before = lines.get((edit.path, edit.start))
            text = edit.new_text if before is None else before.new_text + edit.new_text
            lines[edit.path, edit.start] = Edit(edit.path, edit.start, edit.end, text)
        else:
            others.append(edit)
    return (*lines.values(), *others)


def moved(source: SourceText, changes: Iterable[Edit], offset: int) -> int:
    """Where an offset of a text is after those of the edits that are of it; what they replace moves to its start."""
    result = offset
    for edit in changes:
        if edit.path != source.path:
            continue
        start, end = source.offset(edit.start), source.offset(edit.end)
        if end <= offset:
            result += len(edit.new_text) - (end - start)
        elif start < offset:
            result -= offset - start
    return result


def between(source: SourceText, text: str) -> tuple[Edit, ...]:
    """The edits that make this text of a source: for each run of lines that differ, what differs in them."""
    old, new = source.text.splitlines(keepends=True), text.splitlines(keepends=True)
    found: list[Edit] = []
    offset = 0
    for kind, i, j, k, m in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        before, after = "".join(old[i:j]), "".join(new[k:m])
        if kind != "equal":
            head = len(os.path.commonprefix([before, after]))
            tail = len(os.path.commonprefix([before[head:][::-1], after[head:][::-1]]))
            start, end = source.position(offset + head), source.position(offset + len(before) - tail)
            found.append(Edit(source.path, start, end, after[head : len(after) - tail]))
        offset += len(before)
    return tuple(found)


def enclosing_statement(tree: ast.AST, node: ast.AST) -> ast.stmt | None:
    """The innermost statement that contains a node of the tree."""
    path = path_to(tree, node)
    return first_of(reversed(path), ast.stmt)


def path_to(tree: ast.AST, node: ast.AST) -> list[ast.AST]:
    """The nodes from the tree's root down to a node, both included; empty if it is not in the tree."""
    return index(tree).trail(node)
