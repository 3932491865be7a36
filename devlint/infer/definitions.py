"""Functions and classes of one file, as far as their syntax tells."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cached_property

from .. import knowledge
from ..bind.names import last_name, statements_in
from ..core.paths import Ref
from ..core.places import Place
from ..core.state import NEVER, Key
from ..core.values import Value

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
_OF_CLASS = ("__new__", "__init_subclass__", "__class_getitem__")


_SCOPES = (
    *(ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda),
    *(ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp),
)
"""What binds names of its own."""


_GONE = ast.Module([], [])


class Function:
    """A function, method or lambda of this file, or the module's own statements."""

    def __init__(
        self,
        name: str,
        node: FunctionNode | ast.Module,
        owner: str | None = None,
        outer: Function | None = None,
        enclosing: dict[Key, Value] | None = None,
    ) -> None:
        self.name = name
        """Its dotted name; empty for the module."""
        self.node = node
        self.owner = owner
        """The class it is a method of."""
        self.outer = outer
        self.enclosing = enclosing
        """The variables of the function it is nested in."""
        self.around: dict[Ref, Place] = {}
        """Where that has the modules that it moves."""
        self.why = NEVER
        """What holds where it is defined."""
        self._numbers: dict[ast.AST, int] = {}
        self.nodes: list[ast.AST] = []
        self.own_name = getattr(node, "name", "" if isinstance(node, ast.Module) else "<lambda>")
        self.args = None if isinstance(node, ast.Module) else node.args
        args = self.args
        placed = (*args.posonlyargs, *args.args) if args else ()
        self.positional = [arg.arg for arg in placed]
        self.annotated = frozenset(arg.arg for arg in placed if arg.annotation is not None)
        """Those of them that say what they are to be given."""
        decorators = getattr(node, "decorator_list", ())
        names = {last_name(each) for each in decorators}
        self.decorators = frozenset(names)
        """The last parts of the names of its decorators."""
        self.static = "staticmethod" in names
        self.of_class = self.own_name in _OF_CLASS or "classmethod" in names
        """Whether its first parameter is the class."""
        self.prop = bool(names & {"property", "cached_property"})
        self.autouse = any(
            keyword.arg == "autouse" and getattr(keyword.value, "value", None) is True
            for decorator in decorators
            if isinstance(decorator, ast.Call)
            for keyword in decorator.keywords
        )
        """Whether it is a fixture that every test around it uses."""

    def release(self) -> None:
        """Let go of the syntax tree."""
        self._numbers.clear()
        self.nodes.clear()
        self.node = _GONE

    def forget_syntax(self) -> None:
        """Look at its body again."""
        for name, each in vars(Function).items():
            if isinstance(each, cached_property):
                self.__dict__.pop(name, None)

    def number(self, node: ast.AST) -> int:
        """The number of a node, counted in this function: lines and comments do not change it."""
        found = self._numbers.get(node)
        if found is None:
            found = self._numbers[node] = len(self.nodes)
            self.nodes.append(node)
        return found

    @cached_property
    def bound(self) -> frozenset[str]:
        """The names that an assignment in it binds without making them new ones."""
        if self.args is None:
            return frozenset()
        names = {arg.arg for arg in ast.walk(self.args) if isinstance(arg, ast.arg)}
        body = getattr(self.node, "body", [])
        todo: list[ast.AST] = list(body) if isinstance(body, list) else [body]
        while todo:
            each = todo.pop()
            if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store):
                names.add(each.id)
            elif isinstance(each, (ast.Global, ast.Nonlocal)):
                names.update(each.names)
            elif isinstance(each, (ast.ExceptHandler, ast.MatchAs, ast.MatchStar)) and each.name:
                names.add(each.name)
            if not isinstance(each, _SCOPES):
                todo.extend(ast.iter_child_nodes(each))
        return frozenset(names)

    @cached_property
    def assigned_attributes(self) -> frozenset[str]:
        """The attributes of its first parameter that a method assigns."""
        if not self.is_method:
            return frozenset()
        return frozenset(
            target.attr
            for statement in statements_in(self.node)
            for target in _targets(statement)
            if isinstance(target, ast.Attribute)
            and isinstance(target.value, ast.Name)
            and target.value.id == self.positional[0]
        )

    @cached_property
    def moves(self) -> frozenset[str]:
        """The variables that the function moves, whatever becomes of that."""
        return frozenset(
            node.func.value.id
            for node in ast.walk(self.node)
            if isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr in knowledge.MOVES
            and isinstance(node.func.value, ast.Name)
        )

    @cached_property
    def tests(self) -> frozenset[ast.AST]:
        """The comparisons that a condition, or what computes with truth values, asks for one answer."""
        found: list[ast.AST] = []
        for node in ast.walk(self.node):
            if isinstance(node, (ast.If, ast.IfExp, ast.While, ast.Assert)):
                found.append(node.test)
            elif isinstance(node, ast.comprehension):
                found += node.ifs
            elif isinstance(node, ast.BoolOp):
                found += node.values
            elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
                found.append(node.operand)
        return frozenset(each for each in found if isinstance(each, ast.Compare))

    @cached_property
    def kept_questions(self) -> dict[str, ast.expr]:
        """What variables keep that ask once for the kind of another: `is_torch = is_tensor(x)`."""
        return {name: question for name, (question, stands) in self._questions.items() if stands}

    @cached_property
    def former_questions(self) -> dict[str, ast.expr]:
        """Those of them whose subject is something else later on: `if is_array: x = torch.from_numpy(x)`."""
        return {name: question for name, (question, stands) in self._questions.items() if not stands}

    @cached_property
    def _questions(self) -> dict[str, tuple[ast.expr, bool]]:
        """Questions for the kind of a variable, by what keeps the answer; whether that is it to the end."""
        asked = {
            target.id: (statement.value, subject)
            for statement in statements_in(self.node)
            if isinstance(statement, ast.Assign)
            and isinstance(target := statement.targets[0], ast.Name)
            and (subject := _asked_for(statement.value)) is not None
        }
        if not asked:
            return {}
        lines: dict[str, list[int]] = {}
        for node in ast.walk(self.node):
            if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
                lines.setdefault(node.id, []).append(node.lineno)
        return {
            name: (question, all(line < question.lineno for line in lines.get(subject.id, ())))
            for name, (question, subject) in asked.items()
            if len(lines[name]) == 1
        }

    @cached_property
    def calls_own(self) -> bool:
        """Whether a method calls something of its first parameter: a layer, perhaps."""
        return self.is_method and any(
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and isinstance(node.func.value, ast.Name)
            and node.func.value.id == self.positional[0]
            for node in ast.walk(self.node)
        )

    def default(self, name: str) -> ast.expr | None:
        """What a parameter is where no caller says."""
        args = self.args
        if args is None:
            return None
        positional = [*args.posonlyargs, *args.args]
        both = [
            *zip(reversed(positional), reversed(args.defaults), strict=False),
            *zip(args.kwonlyargs, args.kw_defaults, strict=True),
        ]
        return next((default for arg, default in both if arg.arg == name), None)

    @property
    def is_method(self) -> bool:
        """Whether the first parameter is `self` or `cls`."""
        return self.owner is not None and not self.static and bool(self.positional)

    @property
    def is_private(self) -> bool:
        """Whether it is for the use of the function around it, or of its own class or file."""
        inner = self.outer is not None and bool(self.outer.name)
        dunder = self.own_name.endswith(2 * knowledge.PRIVATE)
        return inner or (self.own_name.startswith(knowledge.PRIVATE) and not dunder)

    @property
    def is_left_open(self) -> bool:
        """Whether it is for derived classes to say what it does: it is abstract, or not implemented."""
        if not isinstance(self.node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            return False
        last = self.node.body[-1]
        if isinstance(last, ast.Raise) and last.exc is not None:
            return last_name(last.exc) in knowledge.LEAVES_OPEN and len(self.node.body) <= 2
        return not knowledge.LEAVES_OPEN.isdisjoint(self.decorators) and self.is_hook

    @property
    def is_hook(self) -> bool:
        """Whether its body does nothing, so that a subclass is likely to replace it."""
        if not isinstance(self.node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            return False
        body = self.node.body
        if isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant):
            body = body[1:]
        return all(map(_does_nothing, body))

    @property
    def names(self) -> Iterator[str]:
        """Its name and those of the functions around it."""
        function: Function | None = self
        while function is not None:
            yield function.own_name
            function = function.outer


def _targets(statement: ast.stmt) -> Iterator[ast.expr]:
    """What an assignment assigns."""
    if isinstance(statement, (ast.Assign, ast.AnnAssign, ast.AugAssign)):
        targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
        for target in targets:
            yield from target.elts if isinstance(target, (ast.Tuple, ast.List)) else (target,)


def _does_nothing(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.Return):
        return isinstance(statement.value, (ast.Name, ast.Constant, type(None)))
    if isinstance(statement, ast.Expr):
        return isinstance(statement.value, ast.Constant)  # `...`
    return isinstance(statement, (ast.Pass, ast.Raise))


def _asked_for(question: ast.expr) -> ast.Name | None:
    """The variable for whose kind a condition asks: `isinstance(x, Tensor)`, `type(x) is Tensor`."""
    if isinstance(question, ast.Compare) and isinstance(question.ops[0], (ast.Is, ast.Eq)):
        question = question.left
        if not (isinstance(question, ast.Call) and last_name(question) == knowledge.ASKS_TYPE):
            return None
    elif not (isinstance(question, ast.Call) and last_name(question) in knowledge.ASKS_KIND):
        return None
    subject = question.args[0] if question.args else None
    return subject if isinstance(subject, ast.Name) else None


def moved_for_another(node: ast.AST) -> str:
    """The attribute that an assignment moves of another object: `self.data.x = self.data.x.cuda()`."""
    if not isinstance(node, ast.Assign):
        return ""
    target, moved, moves = node.targets[0], node.value, False
    if not (isinstance(target, ast.Attribute) and isinstance(target.value, ast.Attribute)):
        return ""
    while isinstance(moved, ast.Call) and isinstance(moved.func, ast.Attribute):
        moves |= moved.func.attr in knowledge.MOVES
        moved = moved.func.value
    return target.attr if moves and isinstance(moved, ast.Attribute) and moved.attr == target.attr else ""
