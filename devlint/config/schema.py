"""The keys of `[tool.devlint]` and their types; imported only where a file has such a table."""

from __future__ import annotations

import os.path
import re
from collections.abc import Mapping
from difflib import get_close_matches
from typing import Annotated, Any, Literal

import msgspec

from ..errors import DevlintError
from ..match.registry import resolved
from ..report import FORMATS
from ..source.globs import anchored, expanded
from .settings import DEFAULT_EXCLUDE, Fixing, Selection, Settings, release

_UNKNOWN = re.compile(r"Object contains unknown field `(?P<key>[^`]*)`(?: - at `\$\.?(?P<at>.*)`)?")
_TYPES = re.compile(r"expected `(?P<wanted>[^`]*)`, got `(?P<got>[^`]*)`")
_WORDS = {
    "array": "a list",
    "bool": "true or false",
    "float": "a number",
    "int": "a number",
    "object": "a table",
    "str": "a string",
}
_FIXING = frozenset({"fixable", "extend-fixable", "unfixable", "extend-safe-fixes", "extend-unsafe-fixes"})
_SELECTORS = ("extend-select", "ignore", *sorted(_FIXING))
_IGNORES = ("per-file-ignores", "extend-per-file-ignores")
_WRONG = re.compile(r"(?P<what>.*) - at `\$\.?(?P<at>.*)`")


_Codes = tuple[str, ...]
_Globs = tuple[str, ...]
_Limits = dict[str, Annotated[int, msgspec.Meta(ge=0)]]


def _key(description: str, *examples: Any) -> msgspec.Meta:
    return msgspec.Meta(description=description, examples=list(examples))


class Table(msgspec.Struct, forbid_unknown_fields=True, rename="kebab", kw_only=True):
    """What a table may say; a key that is left out keeps its default."""

    extend: Annotated[
        str | None,
        _key(
            "A configuration file to build upon, relative to this one; what is said here wins.",
            "../base.toml",
        ),
    ] = None
    select: Annotated[
        _Codes | None,
        _key(
            "Run these rules alone: codes, prefixes of codes or `ALL`. By default, every rule but those "
            "whose findings are all notes.",
            ["DEV1", "DEV3"],
        ),
    ] = None
    extend_select: Annotated[
        _Codes, _key("Run these rules too, on top of `select` or the default.", ["DEV2"])
    ] = ()
    ignore: Annotated[
        _Codes, _key("Leave these rules out; the more specific of two selectors wins.", ["DEV2"])
    ] = ()
    per_file_ignores: Annotated[
        dict[str, _Codes],
        _key(
            "Leave rules out in the files that match a pattern; `!` before it means all other files.",
            {"benchmarks/*": ["DEV2"], "!src/**": ["DEV4"]},
        ),
    ] = {}
    extend_per_file_ignores: Annotated[
        dict[str, _Codes],
        _key(
            "The same, on top of what `per-file-ignores` says here or in the file that is extended.",
            {"tests/*": ["DEV5"]},
        ),
    ] = {}
    preview: Annotated[
        bool, _key("Run the rules that are not settled yet too; they may change in any release.", True)
    ] = False
    explicit_preview_rules: Annotated[
        bool,
        _key("With `preview`, run only those of these rules that are selected by their whole code.", True),
    ] = False
    exclude: Annotated[
        _Globs, _key("Files and folders to leave out, in place of the default.", [".venv", "build"])
    ] = DEFAULT_EXCLUDE
    extend_exclude: Annotated[
        _Globs, _key("Files and folders to leave out too.", ["third_party", "*_pb2.py"])
    ] = ()
    force_exclude: Annotated[
        bool, _key("Leave them out when they are named outright, as pre-commit does.", True)
    ] = False
    respect_gitignore: Annotated[bool, _key("Leave out what git and `.ignore` ignore.", False)] = True
    lint_tests: Annotated[bool, _key("Say of test code too what is said of programs alone.", True)] = False
    target_torch: Annotated[
        str | None, _key("The oldest release of torch that the code must run with.", "2.4")
    ] = None
    unsafe_fixes: Annotated[bool, _key("Let `--fix` change what the program does on the cpu.", True)] = False
    fixable: Annotated[_Codes, _key("The rules whose fixes are applied.", ["DEV1"])] = ("ALL",)
    extend_fixable: Annotated[_Codes, _key("More rules whose fixes are applied.", ["DEV2"])] = ()
    unfixable: Annotated[_Codes, _key("Rules whose fixes are not applied.", ["DEV2"])] = ()
    extend_safe_fixes: Annotated[
        _Codes, _key("Rules whose fixes count as safe, whatever they are by themselves.", ["DEV2"])
    ] = ()
    extend_unsafe_fixes: Annotated[_Codes, _key("Rules whose fixes count as unsafe.", ["DEV1"])] = ()
    baseline: Annotated[
        str | None,
        _key("A file of findings that are accepted, in this folder or below.", "devlint-baseline.json"),
    ] = None
    max_findings: Annotated[
        _Limits,
        _key("How many findings of a code or prefix do not fail a run yet.", {"DEV2": 12, "DEV4": 3}),
    ] = {}
    output_format: Annotated[
        Literal[
            "full", "concise", "grouped", "json", "json-lines", "github", "gitlab", "sarif", "junit",
            "pylint", "rdjson", "azure",
        ]
        | None,
        _key('How findings are shown; "full" by default.', "concise"),
    ] = None  # fmt: skip
    jobs: Annotated[
        Annotated[int, msgspec.Meta(ge=1)] | None,
        _key("How many processes lint, at most; by default, as many as there are cores.", 2),
    ] = None
    cache_dir: Annotated[
        str | None,
        _key(
            "The folder for results, in this folder or below; `.devlint_cache` by default.", ".cache/devlint"
        ),
    ] = None


def to_settings(data: Mapping[str, Any], path: str, prefix: str, base: Settings | None = None) -> Settings:
    """Return the settings of a table; `prefix` is the path of its keys in the TOML document.

    What it does not say is as in `base`, if there is one.
    """
    try:
        table = msgspec.convert(data, Table)
    except msgspec.ValidationError as error:
        raise DevlintError(f"{path}: {_explain(str(error), prefix, data)}") from error
    where = f"{path}: {prefix}"
    root = os.path.dirname(os.path.abspath(path))
    _name_rules(table, where)
    globs = {"exclude": table.exclude, "extend-exclude": table.extend_exclude}
    for key in _IGNORES:
        globs |= {f'{key}."{pattern}"': (pattern,) for pattern in getattr(table, key.replace("-", "_"))}
    for key, patterns in globs.items():
        _check_globs(patterns, f"{where}{key}", negatable=key not in ("exclude", "extend-exclude"))
    base = Settings() if base is None else _moved(base)
    found = base._replace(
        root=root,
        selections=(*base.selections, Selection(table.select, table.extend_select, table.ignore)),
        extend_exclude=(*base.extend_exclude, *table.extend_exclude),
        extend_per_file_ignores=(
            *base.extend_per_file_ignores,
            *table.extend_per_file_ignores.items(),
        ),
        fixing=_fixing(table, data, base.fixing),
        source=path,
    )
    said: dict[str, Any] = {
        "per-file-ignores": tuple(table.per_file_ignores.items()),
        "exclude": table.exclude,
        "force-exclude": table.force_exclude,
        "respect-gitignore": table.respect_gitignore,
        "lint-tests": table.lint_tests,
        "preview": table.preview,
        "explicit-preview-rules": table.explicit_preview_rules,
        "unsafe-fixes": table.unsafe_fixes,
        "output-format": table.output_format,
        "target-torch": _release(table.target_torch, f"{where}target-torch"),
        "baseline": _below(table.baseline, root, f"{where}baseline"),
        "max-findings": tuple(table.max_findings.items()),
        "jobs": table.jobs,
        "cache-dir": _below(table.cache_dir, root, f"{where}cache-dir", "folder"),
    }
    return found._replace(**{key.replace("-", "_"): value for key, value in said.items() if key in data})


def _name_rules(table: Table, where: str) -> None:
    """Put codes in the place of names; raises DevlintError where a selector means no rule."""
    for key in ("select", *_SELECTORS):
        field = key.replace("-", "_")
        selectors = getattr(table, field)
        if selectors:
            setattr(table, field, resolved(selectors, f"{where}{key}"))
    if table.max_findings:
        codes = resolved(table.max_findings, f"{where}max-findings")
        table.max_findings = dict(zip(codes, table.max_findings.values(), strict=True))
    for key in _IGNORES:
        field = key.replace("-", "_")
        ignores = {
            pattern: resolved(selectors, f'{where}{key}."{pattern}"') if selectors else ()
            for pattern, selectors in getattr(table, field).items()
        }
        setattr(table, field, ignores)


def _moved(base: Settings) -> Settings:
    """Return settings of another folder, their patterns meaning the same files."""

    def ignores(given: tuple[tuple[str, _Codes], ...]) -> tuple[tuple[str, _Codes], ...]:
        return tuple((anchored(pattern, base.root), selectors) for pattern, selectors in given)

    return base._replace(
        per_file_ignores=ignores(base.per_file_ignores),
        extend_per_file_ignores=ignores(base.extend_per_file_ignores),
        exclude=tuple(anchored(pattern, base.root) for pattern in base.exclude),
        extend_exclude=tuple(anchored(pattern, base.root) for pattern in base.extend_exclude),
    )


def _fixing(table: Table, data: Mapping[str, Any], base: Fixing | None) -> Fixing | None:
    """Return what a table says about fixes; `None` where everything is as the rules say."""
    if _FIXING.isdisjoint(data):
        return base
    base = base or Fixing()
    return Fixing(
        table.fixable if "fixable" in data else base.fixable,
        (*base.extend_fixable, *table.extend_fixable),
        table.unfixable if "unfixable" in data else base.unfixable,
        (*base.safe, *table.extend_safe_fixes),
        (*base.unsafe, *table.extend_unsafe_fixes),
    )


def _below(name: str | None, root: str, where: str, what: str = "file") -> str | None:
    """Return the path of what a run may write; a configuration names none but in its own folder."""
    if name is None:
        return None
    path = os.path.normpath(os.path.join(root, name))
    if not name or os.path.isabs(name) or not path.startswith(os.path.join(root, "")):
        raise DevlintError(f"{where}: expected the name of a {what} in this folder or below, got {name!r}")
    return path


def _check_globs(patterns: tuple[str, ...], where: str, *, negatable: bool) -> None:
    for pattern in patterns:
        if pattern.startswith("!") and not negatable:
            raise DevlintError(f"{where}: {pattern!r}: `!` is for per-file-ignores; write `[!]` for a name")
        try:
            expanded(pattern)
        except DevlintError as error:
            raise DevlintError(f"{where}: {error}") from None


def _release(text: str | None, where: str) -> tuple[int, int] | None:
    if text is None:
        return None
    try:
        return release(text)
    except ValueError as error:
        raise DevlintError(f"{where}: {error}") from None


def _explain(message: str, prefix: str, data: Mapping[str, Any]) -> str:
    """Say it with the key's path in the document, and name the key that was probably meant."""
    if match := _UNKNOWN.fullmatch(message):
        names = [field.encode_name for field in msgspec.structs.fields(Table)]
        close = get_close_matches(match["key"], names, n=1)
        hint = f"did you mean `{close[0]}`?" if close else f"known are {', '.join(names)}"
        return f"{prefix}{match['key']}: unknown key; {hint}"
    if match := _WRONG.fullmatch(message):
        return f"{prefix}{_named(match['at'], data)}: {_plain(match['what'])}"
    return f"{prefix.rstrip('.')}: {_plain(message)}".lstrip(": ")


def _named(at: str, data: Mapping[str, Any]) -> str:
    """Return the path of a key, with the name of a pattern where msgspec has an ellipsis."""
    key, dots, rest = at.partition("[...]")
    if not dots:
        return at
    kind: Any = _Limits if key == "max-findings" else dict[str, _Codes]
    for pattern, value in data[key].items():
        try:
            msgspec.convert({pattern: value}, kind)
        except msgspec.ValidationError:
            return f'{key}."{pattern}"{rest}'
    return at


def _plain(message: str) -> str:
    """Return msgspec's message in the words of TOML."""
    message = message[:1].lower() + message[1:]
    if match := _TYPES.fullmatch(message):
        kinds = [_WORDS.get(kind, kind) for kind in match["wanted"].split(" | ") if kind != "null"]
        return f"expected {' or '.join(kinds)}, got {_WORDS.get(match['got'], match['got'])}"
    if message.startswith("invalid enum value "):  # there is one key of that kind
        return f"{message}; known are {', '.join(FORMATS)}"
    return message
