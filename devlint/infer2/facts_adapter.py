"""The old five facts, from the new inference: until the rules listen to events."""

from __future__ import annotations

import ast

from .. import knowledge
from ..bind.text import NODE_TYPES, Text
from ..core.kinds import Kind as NewKind
from ..core.values import Api, Value
from ..infer.facts import AnyFact, BatchMeeting, Discarded, HardcodedCall, HardcodedDevice, StaleOptimizer
from ..infer.values import Kind
from ..infer.sections import Line
from .file import File
from .settle import Settled


def facts(file: File, settled: Settled, text: str) -> tuple[AnyFact, ...]:
    source = Text(text)
    found: list[AnyFact] = []
    for function, node, raw in settled.discarded_moves():
        kind = settled.kind_of_moved(raw.receiver, function)
        if kind is None:
            continue
        assert isinstance(node.func, ast.Attribute)
        receiver = node.func.value
        found.append(
            Discarded(
                source.span(node), "Call", raw.method, raw.casts, Kind[kind.name], source.quote(receiver),
                _assignable(receiver) and kind is not NewKind.PARAMETER and raw.alone,
                source.quote(raw.iterates) if raw.iterates is not None else None,
                raw.fate == "rebound",
            )
        )
    if not file.nature:
        found += _hardcoded(file, source)
    found += _stale(file, source)
    found += _batches(settled, source)
    found.sort(key=lambda fact: (fact.span, type(fact).__name__))
    return tuple(found)


def _assignable(node: ast.expr) -> bool:
    if isinstance(node, ast.Name):
        return True
    if isinstance(node, ast.Attribute):
        return _assignable(node.value)
    if isinstance(node, ast.Subscript):
        index = node.slice.operand if isinstance(node.slice, ast.UnaryOp) else node.slice
        return _assignable(node.value) and isinstance(index, (ast.Name, ast.Constant))
    return False


def _hardcoded(file: File, source: Text) -> list[AnyFact]:
    found: list[AnyFact] = []
    has_torch = file.outside.env.get("torch") == Value(NewKind.LIBRARY, known=Api("torch"))
    harmless = set().union(*(log.harmless for log in file.logs.values()))
    for function, log in file.logs.items():
        for node, raw in log.moves.items():
            if raw.method != "cuda" or raw.why.guarded or not isinstance(node.func, ast.Attribute):
                continue
            if raw.named == "other" or raw.receiver.kind in (NewKind.INSTANCE, NewKind.MOVES_IN_PLACE):
                continue
            given = {"": "", "device": "device"}.get(raw.named, "index")
            found.append(HardcodedCall(source.span(node), "Call", source.quote(node.func.value), given, log.at_hand.get(node)))
        for (where, at), literal in log.literals.items():
            home = file.functions.get(where) if where else file.module
            if home is None or literal.why.guarded or file.logs[where].born[at].guarded:
                continue
            node = home.nodes[at]
            if node in harmless or not isinstance(node, ast.Constant):
                continue
            found.append(HardcodedDevice(source.span(node), "SimpleString", str(node.value), literal.role, has_torch))
    return list(dict.fromkeys(found))


def _stale(file: File, source: Text) -> list[AnyFact]:
    found: list[AnyFact] = []
    for function, log in file.logs.items():
        for node, (_, mark, method) in log.stale.items():
            if not isinstance(node, ast.Call):
                continue
            stage = "replaced" if method in ("to_empty", "FullyShardedDataParallel") else mark.phase
            if stage in ("stepped", "loaded") and mark.stateless:
                stage = "fresh"
            inside = any(
                other_mark.at == mark.at and name != function
                for name, other in file.logs.items()
                for _, other_mark, _ in other.stale.values()
            )
            is_move = isinstance(node.func, ast.Attribute) and node.func.attr in (*knowledge.MOVES, "to_empty")
            if inside and not is_move:
                continue
            moved: ast.expr = node.func.value if isinstance(node.func, ast.Attribute) else node
            if method == "FullyShardedDataParallel" and node.args:
                moved = node.args[0]
            where, at = mark.at
            home = file.functions.get(where) if where else file.module
            line = getattr(home.nodes[at], "lineno", 0) if home is not None else 0
            found.append(StaleOptimizer(source.span(node), "Call", source.quote(moved), mark.name, Line(line), stage))
    return found


def _batches(settled: Settled, source: Text) -> list[AnyFact]:
    found: dict[object, BatchMeeting] = {}
    for key, clash in settled.clashes():
        label = ""
        if clash.part >= 0 and clash.certain:
            label = settled.objects.labels[clash.part]
        other = source.quote(clash.other)
        if not clash.certain:
            other = settled.objects.labels[clash.part]
        if type(clash.at) not in NODE_TYPES:
            continue
        fact = BatchMeeting(
            source.span(clash.at), NODE_TYPES.get(type(clash.at), ""), label or source.quote(clash.at),
            settled.loader_name(clash.whole), other, settled.device_name(clash.there), clash.partly,
            clash.certain, clash.conditional,
        )
        if key not in found or fact.span < found[key].span:
            found[key] = fact
    return list(found.values())
