"""The keys of a configuration, told to people (`devlint config`) and to editors (a JSON schema)."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

import msgspec

from ..console import escaped
from .schema import Table

_NAMES = {"boolean": "bool", "integer": "int", "string": "str"}


class Key(NamedTuple):
    """One key: what it is for, and what may stand there."""

    name: str
    description: str
    type: str
    default: str | None
    """As TOML; `None` where there is no value that means the same as none."""
    example: str


def schema() -> dict[str, Any]:
    """Return the JSON schema of `[tool.devlint]`, and of a `devlint.toml`."""
    table = _definition()
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "devlint",
        "description": "What the table `tool.devlint` of pyproject.toml, or a devlint.toml, may say.",
        "type": "object",
        "additionalProperties": False,
        "properties": {name: _without_null(each) for name, each in table["properties"].items()},
    }


def keys() -> list[Key]:
    """Return every key, in the order in which the table has them."""
    return [
        Key(
            name,
            each["description"],
            _type(each),
            toml(each["default"]) if "default" in each else None,
            "\n".join(f"{name} = {toml(example)}" for example in each.get("examples", ())),
        )
        for name, each in schema()["properties"].items()
    ]


def toml(value: Any) -> str:
    """Return a value as TOML, on one line."""
    if isinstance(value, dict):
        inside = ", ".join(f"{toml(key)} = {toml(item)}" for key, item in value.items())
        return f"{{ {inside} }}" if inside else "{}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(toml, value)) + "]"
    return escaped(json.dumps(value))


def _definition() -> dict[str, Any]:
    found: dict[str, Any] = msgspec.json.schema(Table)["$defs"][Table.__name__]
    return found


def _without_null(key: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of a key without the `null` that TOML does not have."""
    found = dict(key)
    kinds = [kind for kind in found.pop("anyOf", ()) if kind.get("type") != "null"]
    for kind in kinds:
        found |= kind
    if "enum" in found:
        found["enum"] = [value for value in found["enum"] if value is not None]
    if found.get("default", ...) is None:
        del found["default"]
    return found


def _type(key: dict[str, Any]) -> str:
    if "enum" in key:
        return " | ".join(json.dumps(value) for value in key["enum"])
    if key["type"] == "array":
        return f"list[{_type(key['items'])}]"
    if key["type"] == "object":
        return f"dict[str, {_type(key['additionalProperties'])}]"
    return _NAMES[key["type"]]
