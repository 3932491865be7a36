"""What comes together and is apart, and what of it is to be changed."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from ..bind.position import encloses
from ..bind.walk import descendants
from ..core.met import Met
from .moves import MOVES, Moves
from .parts import quoted, there
from .stage import Load
from .values import CPU, NOWHERE, Argument, Batch, Made, Obj, Spot, Tensor, Unknown, Value

_OF_WEIGHTS = ("weights", "computed")
_ORIGINS = {
    "told": "literal",
    "attribute": "abroad",
    "copied": "moved",
    **dict.fromkeys(_OF_WEIGHTS, "moved"),
}
"""What origins of values call it."""


class Left(NamedTuple):
    """What stayed behind, and is to be changed."""

    kind: Any
    origin: Any
    home: Spot
    label: str = ""
    dims: int = 1
    made: Spot | None = None
    """Where it was made, if that is another file."""
    kept: Spot | None = None


class Meetings(Moves):
    """Tells what comes together and is apart."""

    def __init__(self, load: Load, *, lazy: bool) -> None:
        """See `Stage`."""
        super().__init__(load, lazy=lazy)
        self.lost: set[Made] = set()
        """What was moved, and is still where it was as nobody kept the copy."""
        self.moved_groups: set[int] = set()
        """The batches of which something was moved."""

    def combined(
        self, node: ast.AST, how: str, parties: Sequence[Argument], *, exact: bool = False
    ) -> Tensor:
        """What an operation gives of tensors, which have to be together."""
        tensors = [(at, value) for at, value in parties if isinstance(value, Tensor)]
        dims = max((value.dims for _, value in tensors), default=0)
        place, made = NOWHERE, None
        sure = not any(isinstance(value, Unknown) and value.moved for _, value in parties)
        for _, value in tensors:
            sure &= bool(value.place)
            counts = value.dims > 0 or exact or len(tensors) == 1
            if value.place and (counts or not place) and (place in (NOWHERE, CPU) or value.place != CPU):
                place = value.place
        if place == CPU and sure:
            made = next((value.made for _, value in tensors if value.made is not None), None)
            if made is not None and made.how == "weights":
                made = made._replace(how="computed")
        behind = [(at, value) for at, value in tensors if value.place == CPU and (value.dims > 0 or exact)]
        ahead = [(at, value) for at, value in tensors if value.place not in (NOWHERE, CPU)]
        if behind and ahead:
            self.tell(how, behind[0], ahead[0])
            return Tensor(NOWHERE, dims)
        others = [(at, value) for at, value in ahead if value.dims > 0]
        for at, value in others[1:]:
            if value.place != others[0][1].place:
                self.tell(how, others[0], (at, value))
                return Tensor(NOWHERE, dims)
        return Tensor(place if sure or place != CPU else NOWHERE, dims, made)

    def tell(self, how: Any, behind: Argument, ahead: Argument, module: Obj | None = None) -> None:
        """Note what came together and is apart."""
        at, value = behind
        made = value.made if isinstance(value, Tensor) else None
        if self.tried or (made is not None and _bare(made) in self.lost):
            return  # it is caught, or told by itself that a move is thrown away
        here = self.spot(at)
        if module is None and made is not None and made.how in _OF_WEIGHTS and isinstance(made.group, Obj):
            module = made.group
        if module is None and made is not None and self._is_given(made):
            return
        if module is not None:
            left = self._module_left(module)
        elif made is None:
            left = Left("tensor", "moved", here)
        elif made.how == "loader":
            left = Left("batch", "loader", self._passed(made, here))
        else:
            left = self._tensor_left(made, here)
        if left is None:
            return
        via = made.via if made is not None else None
        met, place = ahead[1], value.place if isinstance(value, Tensor) else CPU
        self.met.setdefault(
            (left.home.path, there(left.home).at, left.kind, left.origin),
            Met(
                how,
                left.kind,
                left.origin,
                there(left.home),
                left.label or quoted(left.home.node),
                place,
                value.dims if left.kind == "tensor" and made is not None and isinstance(value, Tensor) else 1,
                quoted(ahead[0]),
                met.place if isinstance(met, Tensor) else NOWHERE,
                there(here),
                left.kind == "batch" and made is not None and id(made.group) in self.moved_groups,
                there(left.made) if left.made is not None else None,
                there(via) if via is not None else None,
                there(left.kept) if left.kept is not None else None,
                left.kind == "module" and self.may_be_moved(),
                self.is_placed_by_guess(),
            ),
        )

    def may_be_moved(self) -> bool:
        """Whether a caller that is not in sight may move what runs as a whole."""
        return False

    def is_placed_by_guess(self) -> bool:
        """Whether what runs is where an accelerator is only as nothing says otherwise."""
        return False

    def _tensor_left(self, made: Made, here: Spot) -> Left:
        home = made.spot
        if made.how == "factory" and home.path != here.path and not self.is_at_work(home):
            # Who made it in another file, and gave it away, does not know what it meets.
            told = made.via if made.via is not None and made.via.path != here.path else here
            return Left("tensor", "factory", told, made=home, kept=made.kept)
        return Left("tensor", _ORIGINS.get(made.how, made.how), home, made.label, kept=made.kept)

    def _module_left(self, module: Obj) -> Left | None:
        """The outermost module at work of which nothing was moved.

        One that another has in a plain container is told where that is assigned; of a copy, the original.
        """
        at_work: list[tuple[Obj, Spot | None, str]] = [
            (each.obj, each.spot, each.label) for each in self.running
        ]
        before = self.frames[: self.running[0].depth if self.running else None]
        own = [each for frame in before if isinstance(each := frame.receiver, Obj) and self.is_module(each)]
        first = next((each for each in own if not at_work or self._has(each, at_work[0][0])), None)
        if first is not None:
            at_work.insert(0, (first, None, ""))
        for index, (obj, spot, label) in enumerate((*at_work, (module, None, ""))):
            inner = index == len(at_work)
            if obj.left_by is not None and self._is_on_host(obj):
                return Left("tensor", "moved", obj.left_by)
            if not inner and (obj.moved or not self.is_module(obj)):
                continue
            if obj.unsettled:
                return None
            if not self._is_on_host(obj):
                continue
            if obj.hidden is not None and (inner or index):
                return Left("hidden", "made", obj.hidden)
            while obj.original is not None and self._is_on_host(obj.original):
                obj = obj.original
            if obj.spot is None:
                continue
            given = spot is not None and spot.path != obj.spot.path and not self.is_at_work(obj.spot)
            home = spot if given and spot is not None else obj.spot
            if home is obj.spot and obj.via is not None and not self.is_at_work(home):
                home = obj.via  # who made it, and gave it away, does not know what it meets
            return Left("module", "made", home, label, kept=obj.kept)
        return None

    def _has(self, module: Obj, part: Obj) -> bool:
        """Whether a module, of which a method is at work, has another and moves with it."""
        own = {id(each) for each in self.weights(module)}
        return part is not module and all(id(each) in own for each in self.weights(part))

    def outermost(self, module: Obj) -> Obj:
        """The outermost module at work that is on the cpu, or else the one at hand."""
        at_work = (each.obj for each in self.running if self.is_module(each.obj))
        return next((each for each in at_work if self._is_on_host(each)), module)

    def _is_on_host(self, module: Obj) -> bool:
        """Whether all weights of a module are on the cpu, and there are some."""
        return {tensor.place for tensor in self.weights(module)} == {CPU}

    def _is_given(self, made: Made) -> bool:
        """Whether something is given to a module that is where it is: what that moves is told by itself."""
        if not self.running or not self._is_on_host(self.running[0].obj):
            return False
        return not any(
            frame.scope.unit.path == made.spot.path and encloses(frame.node, made.spot.node)
            for frame in self.frames[self.running[0].depth :]
        )

    def _passed(self, made: Made, here: Spot) -> Spot:
        """What was passed of a batch where it is gone through, or its loader to another file, if any was."""
        assert isinstance(made.group, Batch)
        for caller, frame in pairwise(self.frames):
            path = caller.scope.unit.path
            elsewhere = path != frame.scope.unit.path
            for at, value in frame.given:
                if elsewhere and value is made.group.loader and path != made.spot.path:
                    return Spot(path, at)
                own = (
                    isinstance(value, Tensor) and value.made is not None and _bare(value.made) == _bare(made)
                )
                whole = elsewhere and any(
                    each.made is not None and each.made.group is made.group for each in self.tensors_in(value)
                )
                if path == made.spot.path and (own or whole):
                    return Spot(path, at)
        return here

    def is_at_work(self, spot: Spot) -> bool:
        """Whether the function in which something stands has not ended."""
        return any(
            frame.scope.unit.path == spot.path
            and (isinstance(frame.node, ast.Module) or encloses(frame.node, spot.node))
            for frame in self.frames
        )

    def dropped(self, value: Value, node: ast.expr) -> None:
        """Nobody keeps what an expression gives: a move that is thrown away is told by itself."""
        for each in self.tensors_in(value):
            if each.was is not None:
                self._lose(each.was)
        func = node.func if isinstance(node, ast.Call) else None
        moved = func.value if isinstance(func, ast.Attribute) and func.attr in MOVES else None
        if isinstance(value, Tensor) and isinstance(moved, ast.Name):
            self.assign(moved.id, value._replace(place=NOWHERE, made=None))

    def turned(self, node: ast.For | ast.AsyncFor) -> None:
        """A turn of a loop has ended: a copy by the name of what is moved, which nothing uses, is lost."""
        for each in descendants(node.target):
            value = self.scope.names.get(each.id) if isinstance(each, ast.Name) else None
            was = value.was if isinstance(value, Tensor) else None
            if isinstance(each, ast.Name) and was is not None and _is_unused(node, each.id):
                self._lose(was)

    def _lose(self, made: Made) -> None:
        if made.how == "weights" and isinstance(made.group, Obj):
            self.hand_over([made.group])
        self.lost.add(_bare(made))


def _bare(made: Made) -> Made:
    """How a tensor came to be, wherever it went afterwards."""
    return made._replace(via=None, kept=None)


def _is_unused(loop: ast.For | ast.AsyncFor, name: str) -> bool:
    """Whether a loop does nothing with what goes by a name but ask for it, and bind the name again."""
    todo: list[ast.AST] = list(loop.body)
    while todo:
        node = todo.pop()
        if isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load):
            return False
        if isinstance(node, ast.If):
            todo += [*node.body, *node.orelse]
        elif not (isinstance(node, ast.Assign) and any(_names(each, name) for each in node.targets)):
            todo += ast.iter_child_nodes(node)
    return True


def _names(target: ast.expr, name: str) -> bool:
    return isinstance(target, ast.Name) and target.id == name
