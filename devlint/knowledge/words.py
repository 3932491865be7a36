"""What names that users chose suggest: hints, which may silence a finding and never make one.

Whatever else devlint knows it knows by what torch, a library or Python defines. Only this file looks into
names; `hints = false` turns it off. Names are compared in snake case and lower letters, dots and spaces
between their words as they were: `requiresCUDA` as `requires_cuda`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from .row import Hint

_ACCELERATOR = (
    r"cuda|gpu|nvidia|nccl|tensorrt|rocm|habana|hccl"
    r"|(?:^|[_. ])(?:hpu|npu|xpu|tpu|mps|xla|mtia|musa|trt)s?(?:$|[_. ])"
)
_ABSENT = r"(?:^|_)(?:no|not|without|disable|missing|non)_?(?:cuda|gpu)|(?:^|_)cpu|cpu_?only"

HINTS = (
    Hint(frozenset({"function", "class", "decorator"}), _ACCELERATOR, "accelerator"),
    Hint(frozenset({"option"}), _ABSENT, "no-accelerator"),
    Hint(frozenset({"option"}), _ACCELERATOR, "accelerator"),
    Hint(frozenset({"option"}), r"(?:^|_)device_ids$", "accelerator"),
    Hint(frozenset({"option"}), r"(?:^|_)(?:distributed|ddp)$", "processes"),
    Hint(
        frozenset({"asks"}),
        rf"(?:{_ACCELERATOR})\w*[._](?:is_)?(?:available|enabled|supported)$|(?:^|[._])(?:is|has)_(?:{_ACCELERATOR})",
        "accelerator",
    ),
    Hint(frozenset({"string"}), _ACCELERATOR, "accelerator"),
    Hint(frozenset({"reason"}), _ACCELERATOR, "accelerator"),
    Hint(frozenset({"reason"}), r"need|requir|must|only|without|not available|unavailable|^no ", "demands"),
    Hint(
        frozenset({"import"}),
        r"(?:^|\.)triton(?:\.|$)|_cuda$|(?:^|[._])cuda_(?:ext|lib|kernels?)$",
        "accelerator",
    ),
    Hint(frozenset({"function"}), r"(?:^|_)(?:cpu|numpy|np|host)(?:_|$)|collat", "host"),
    Hint(frozenset({"function"}), r"^test_", "tests"),
    Hint(
        frozenset({"function"}),
        r"^_*(?:re)?init(?:iali[sz]e)?$|^_*(?:re)?(?:init|set)(?:iali[sz]e)?(?:_|$).*(?:param|weight)",
        "constructs",
    ),
    Hint(frozenset({"base"}), r"lightning", "framework"),
    Hint(
        frozenset({"base"}),
        r"(?:^|[._])(?:lightning_module|pre_trained_model|model_mixin|base_module)$",
        "module",
    ),
    Hint(frozenset({"decorator"}), r"parametrize$", "parametrizes"),
    Hint(frozenset({"variable", "option"}), r"dtype$", "dtype"),
    Hint(frozenset({"variable", "option"}), r"device", "device"),
    Hint(frozenset({"variable"}), r"sched|scaler", "scheduler"),
    Hint(frozenset({"callable"}), r"import", "imports"),
    Hint(frozenset({"callable"}), r"^assert", "asserts"),
    Hint(frozenset({"callable"}), r"^(?:skip_?if|skip_?unless|skip)$", "skips"),
    Hint(
        frozenset({"callable"}),
        r"^(?:grad_?scaler|set_defaults|update|dict|add_argument|setdefault|field|option)$",
        "configures",
    ),
    Hint(
        frozenset({"callable"}),
        r"^(?:simple_namespace|namespace|(?:magic_|async_|property_)?mock)$",
        "records",
    ),
    Hint(
        frozenset({"callable"}),
        r"^(?:exit|quit|_exit|abort|skip|skip_test|fail|xfail)$",
        "exits",
    ),
    Hint(
        frozenset({"callable"}),
        r"^(?:raises|suppress|assert_raises|assert_raises_regex)$",
        "expects-failure",
    ),
    Hint(frozenset({"callable"}), r"_loss$|cross_entropy", "loss"),
    Hint(frozenset({"model-class"}), r"tokenizer|processor|feature_extractor$", "no-module"),
    Hint(frozenset({"model-class"}), r"(?:config|scheduler|pipeline)$", "unknown"),
    Hint(frozenset({"model-class"}), r"model|_for_", "module"),
)
"""In the order in which they are asked: after `no-accelerator`, nothing says `accelerator`."""

_WORDS = r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])"

_OF_DEVICES = re.compile(r"device|cuda|gpu|accelerat|\b[hmnx]pu\b|\.to\(", re.IGNORECASE)

_OFFERS = re.compile(
    r"[\"']--?(?:(?:no|use|disable|enable|with)[-_])?(?:cuda|cpu|gpu|device|accelerator)[\"']"
    r"|\b(?:no|use|disable|enable|with)_(?:cuda|cpu|gpu)\b"
)
_CHOOSES = re.compile(
    rf"{_OFFERS.pattern}"
    r"|\bis_available\b|\.is_cuda\b|\bcurrent_accelerator\b|[\"']cpu[\"']|\bmap_location\b"
    r"|\bargs?\.(?:cuda|cpu|device)\b"
)
_PASSES = re.compile(r"\bdevice\s*[:,)]|\bdevice\s*=\s*(?:\w*device\b|None)")
"""A device that somebody gives, or has chosen."""
_FIXES = re.compile(r"\bdevice\s*=\s*(?:torch\.device\(\s*)?[rf]?[\"']cuda")
"""One that nobody chooses."""


def snake(name: str) -> str:
    """A name in snake case and lower letters."""
    return re.sub(_WORDS, "_", name).lower()


@lru_cache(maxsize=4096)
def hints(on: str, name: str) -> tuple[str, ...]:
    """What a name of some sort suggests: `hints("function", "run_gpu")` is `("accelerator",)`."""
    return tuple(_said(on, snake(name)))


def speaks_of_devices(line: str) -> bool:
    """Whether a line of a program, its comments included, speaks of a device: a hint that it runs on some."""
    return _OF_DEVICES.search(line) is not None


def chooses_device(text: str) -> bool:
    """Whether a program, without its comments, seems to mean a device to be a choice."""
    passed = _PASSES.search(text) is not None and _FIXES.search(text) is None
    return passed or _CHOOSES.search(text) is not None


def offers_device(text: str) -> bool:
    """Whether a program seems to have an option about the device."""
    return _OFFERS.search(text) is not None


def _said(on: str, name: str) -> Iterator[str]:
    refused = False
    for hint in HINTS:
        if on in hint.on and re.search(hint.pattern, name):
            refused |= hint.says == "no-accelerator"
            if not (refused and hint.says == "accelerator"):
                yield hint.says
