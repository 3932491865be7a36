"""What names that users chose suggest: hints, which may silence a finding and never make one.

Whatever else devlint knows it knows by what torch, a library or Python defines. Only this file looks into
names; `hints = false` turns it off. Names are compared in snake case and lower letters, dots and spaces
between their words as they were: `requiresCUDA` as `requires_cuda`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
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
    Hint(frozenset({"option"}), r"(?:^|_)(?:distributed|ddp|dist)$|(?:^|_)fsdp(?:_|$)", "processes"),
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
    Hint(
        frozenset({"callable"}),
        r"^_*(?:is|has|can|supports?)_|(?:^|_)(?:available|supported|enabled)$",
        "inquires",
    ),
    Hint(frozenset({"callable"}), r"^(?:skip_?if|skip_?unless|skip)$", "skips"),
    Hint(
        frozenset({"callable"}),
        r"^(?:grad_?scaler|set_defaults|update|dict|add_argument|setdefault|field|option)$|(?:^|_)flags?(?:_|$)",
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

_OF_RANKS = re.compile(r"rank|main|master|primary|distributed|ddp|world", re.IGNORECASE)
_OF_DEVICES = re.compile(r"device|cuda|gpu|accelerat|\b[hmnx]pu\b|\.to\(", re.IGNORECASE)

_OFFERS = re.compile(
    r"[\"']--?(?:(?:no|use|disable|enable|with)[-_](?:cuda|cpu|gpu|device|accelerator)|cpu|device|accelerator)[\"']"
    r"|[\"']--?(?:cuda|gpu)[\"'][^()]*(?:\bstore_|\bbool\b|\bTrue\b|\bFalse\b|-1\b)"
    r"|\b(?:no|use|disable|enable|with)_(?:cuda|cpu|gpu)\b(?!=(?:True|False)\s*[,)])"
    r"|\b(?:if|not|and|or)\s+\w+\.(?:cuda|gpu)\s*(?:[:)<>]|!=|is\b|and\b|or\b|else\b)"
)
_ALWAYS = re.compile(r"[\"']--?[\w-]+[\"'](?=[^()]*\bdefault\s*=\s*True\b)(?=[^()]*\bstore_true\b)")
"""A flag that is up in any case."""
_BY_DEFAULT = re.compile(r"\b((?:use|enable|with)_(?:cuda|gpu))\s*(?::\s*bool\s*)?=\s*True\s*[,)]")
"""A parameter that is true unless a caller says otherwise, who offers that then."""
_EITHER_WAY = re.compile(
    r"^([ \t]*)(?:el)?if\s+\w+\.gpu\s+is\s+not\s+None\s*:[ \t]*\n(?:\1[ \t]+\S[^\n]*\n|[ \t]*\n)+"
    r"(?:\1elif\b[^\n]*\n(?:\1[ \t]+\S[^\n]*\n|[ \t]*\n)+)*"
    r"\1(?:else\s*:[ \t]*\n(?:\1[ \t]+[^\n]*\n|[ \t]*\n)*?\1[ \t]+)?\S[^\n]*\.cuda\(",
    re.MULTILINE,
)
"""Where no number of a GPU is given, it is still CUDA."""
_NUMBER_ALONE = re.compile(r"[\"']--gpu[\"']|\b(?:if|not|and|or)\s+\w+\.gpu\s+is\s+(?:not\s+)?None\b")
_NUMBERS = re.compile(r"[\"']--?(?:cuda|gpu)[\"']|\bargs?\.cuda\b")
"""An option that may be the number of a GPU."""
_SHOWS = re.compile(r"CUDA_VISIBLE_DEVICES")
_CHOOSES = re.compile(
    rf"{_OFFERS.pattern}"
    r"|(?<!distributed\.)(?<!dist\.)\bis_available\b|\bcurrent_accelerator\b|[\"']cpu[\"']"
    r"|\bmap_location\s*(?:[:,)]|=\s*(?!lambda\b|None\b|[rf]?[\"']|torch\.device\(\s*[\"'])[A-Za-z_])"
    r"|\b\w*args?\.(?:cpu|device)\b|\bAccelerator\("
)
"""The last leaves the choice to who runs it."""
GPUS = "gpus"
"""What a trainer runs on that a program has told so."""
_TRAINED = re.compile(r"\bLightningModule\b")
_TRAINER = re.compile(r"\bTrainer\(")
_ON_GPUS = re.compile(r"\baccelerator\s*=\s*[\"'](?:gpu|cuda)[\"']|\bgpus\s*=\s*(?:-?[1-9]|\[)")
_ON_OTHERS = re.compile(
    r"\baccelerator\s*=\s*(?![\"'](?:gpu|cuda|ddp\w*|dp)[\"'])|\bgpus\s*=\s*(?!-?[1-9]|\[)|\bTrainer\(\s*\*\*"
)
"""What a trainer runs on where somebody chooses, and not the program; backends were accelerators once."""
_PASSES = re.compile(
    r"(?:(?<!\.)|\b(?:self|\w*(?:args?|opts?|cfg|conf|config|hparams|params|flags))\.)\bdevice\s*[:,)]"
    r"|\bdevice\s*=\s*(?:\w*device\b|None)"
)
"""A device that somebody gives, or has chosen; the one of a tensor follows what it is at."""
_PLACES = re.compile(
    r"[\"']cuda:(?!0[\"'])"
    r"|\bdevice_ids\s*=|\bAccelerator\b|\.cuda\(\s*(?!non_blocking\b|async\b|0\s*\))[^)\s]|\bcuda\.device\("
    r"|\btorch\.device\(\s*(?:f[\"']|[a-zA-Z_][\w.\[\]\"']*\s*\))"
    r"|\.to\(\s*(?:args?|opts?|cfg|conf|config|hparams|params|flags)[.\[]"
)
"""What may mean another device than the cpu and the default GPU, which is the current one."""
_NUMBERED = re.compile(
    r"[\"']--?(?!(?:no|use|disable|enable|with)[-_])(?:\w+[-_])?(?:cuda|gpu|device)(?:[-_]?ids?)?[\"']"
    r"(?![^()]*(?:\bstore_|bool|\bTrue\b|\bFalse\b))"
)
"""An option that may do so, where it does not say which GPUs are seen."""
_FIXES = re.compile(r"\bdevice\s*=\s*(?:torch\.device\(\s*)?[rf]?[\"']cuda")
"""One that nobody chooses."""
_BRINGS_BACK = re.compile(
    r"(?:\bmap_location\s*=\s*|\.to\(\s*|\btorch\.load\([^\n]*?)(?:torch\.device\(\s*)?[\"']cpu[\"']"
    r"|\bdevice\s*=\s*[\"']cpu[\"']\s+if\b[^\n]*\belse\s+None\b"
)
"""The cpu for what is loaded there, brought back to it, or kept there if anybody wants that."""
_OF_FIXED = re.compile(r"\bmap_location\s*=\s*(?:self\.)?device\b|\b\w*args?\.device\b")
"""What is no choice where the device is one that nobody chooses."""
_DEMANDS = re.compile(
    r"\bassert\b[^\n]*\bis_available\b|\bprint\([^\n]*\bis_available\b"
    r"|\bif\s+not\b[^\n]*\bis_available\(\)\s*:\s*(?:(?:print|log\w*\.\w+|warnings\.warn)\([^\n]*\n\s*)*"
    r"(?:raise\b|(?:sys\.|os\._)?exit\()"
)
_ENDS = re.compile(r"\b(?:raise|assert)\b|\bexit\(")
_WHERE_THERE = re.compile(
    r"^([ \t]*)if\s+(?:torch\.)?cuda\.is_available\(\)\s*:[ \t]*"
    r"(\S[^\n]*\n|\n(?:\1[ \t]+\S[^\n]*\n|[ \t]*\n)+)"
    r"(?!\1(?:else|elif)\b|\1[ \t]+\S|[ \t]*\n)",
    re.MULTILINE,
)
"""What is done where CUDA is there, and nothing in its place."""
_SETS_CURRENT = re.compile(r"\bcuda\.set_device\(|\bcuda\.device\(|\bset_device_index\(")
_AVAILABLE = re.compile(r"\bis_available\b")
_MOVES = re.compile(r"\.cuda\(|[\"']cuda(?::\d+)?[\"']")
_NEEDS = re.compile(r"\.cuda\s*\(|[\"']cuda(?::\d+)?[\"']|torch\.cuda\.\w*Tensor\b")
_HALF = re.compile(r"\.half\(\s*\)|dtype\s*=\s*torch\.(?:float16|half)\b")
"""Half precision, in which the cpu lacks operations, or is slow at them."""
_EVERYTHING = re.compile(r"\bset_default_(?:device\([^\n]*[\"']cuda|tensor_type\([^)\n]*cuda)")
"""What puts all that is made on CUDA."""
_FIXED = re.compile(
    r"^[ \t]*(\w+)\s*=\s*(?:torch\.device\(\s*)?[\"']cuda(?::\d+)?[\"']\s*\)?[ \t]*$", re.MULTILINE
)
"""A variable that is CUDA, whatever the machine has."""
_QUOTED = re.compile(r"(\"{3}|'{3}).*?\1", re.DOTALL)
_TEXT = re.compile(r"\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'")


def snake(name: str) -> str:
    """A name in snake case and lower letters."""
    return re.sub(_WORDS, "_", name).lower()


@lru_cache(maxsize=4096)
def hints(on: str, name: str) -> tuple[str, ...]:
    """What a name of some sort suggests: `hints("function", "run_gpu")` is `("accelerator",)`."""
    return tuple(_said(on, snake(name)))


def without_texts(text: str) -> str:
    """A program without its longer strings, where a line may look like one of the program."""
    return _QUOTED.sub("", text)


def without_flags(text: str) -> str:
    """A program without the names of options that change nothing, or only which GPU it is."""
    text = _ALWAYS.sub("", text)
    for name in set(_BY_DEFAULT.findall(text)):
        if not re.search(rf"[\"']-*{name}[\"']|\b{name}\s*=(?!\s*(?:=|True\b|{name}\b))", text):
            text = re.sub(rf"\b(?:self\.)?{name}\b", "given", text)
    return _NUMBER_ALONE.sub("", text) if _EITHER_WAY.search(text) else text


def speaks_of_devices(line: str) -> bool:
    """Whether a line of a program, its comments included, speaks of a device: a hint that it runs on some."""
    return _OF_DEVICES.search(line) is not None


def speaking_of_devices(lines: Iterable[str]) -> list[str]:
    """The lines that do: a file has thousands, of which few do."""
    some = "\n".join((*lines, ""))
    starts = dict.fromkeys(some.rfind("\n", 0, found.start()) + 1 for found in _OF_DEVICES.finditer(some))
    return [some[start : some.index("\n", start)] for start in starts]


def speaks_of_ranks(line: str) -> bool:
    """Whether a condition may be about which one of several processes it is asked in."""
    return _OF_RANKS.search(line) is not None


def chooses_device(text: str) -> bool:
    """Whether a program, without its comments, seems to mean a device to be a choice."""
    text = _without_demands(text)
    passes = "device" in text and _PASSES.search(_TEXT.sub('""', text)) is not None
    if _FIXES.search(text) is not None:
        passes, text = False, _OF_FIXED.sub("", text)
    return passes or _CHOOSES.search(_WHERE_THERE.sub("\n", text)) is not None


def may_demand_cuda(text: str) -> bool:
    """Whether a program, on some path at least, ends where there is no CUDA."""
    available = "is_available" in text and _DEMANDS.search(text) is not None
    return available or ("device_count" in text and _ENDS.search(text) is not None)


def leaves_device(text: str) -> bool:
    """Whether a program seems to leave the device to a trainer that others make."""
    return _TRAINED.search(text) is not None


def trains_on(text: str) -> str:
    """What a trainer that a program makes runs on: `gpus`, or what is `open`; empty where it makes none."""
    if not _TRAINER.search(text):
        return ""
    return GPUS if _ON_GPUS.search(text) and not _ON_OTHERS.search(text) else "open"


def names_cuda(text: str) -> int:
    """How often a program, without its comments, names CUDA where a device goes, or a variable that is it.

    Where it does, what it has in half precision counts as well, and what makes CUDA the default thrice: it
    speaks for all that is made.
    """
    fixed = {found[1] for found in _FIXED.finditer(text)}
    used = sum(len(re.findall(rf"\.to\(\s*{name}\b|(?<!\.)\bdevice\s*=\s*{name}\b", text)) for name in fixed)
    found = len(_NEEDS.findall(text)) + used
    return found + len(_HALF.findall(text)) + 2 * len(_EVERYTHING.findall(text)) if found else 0


def moves_to_cuda(text: str) -> tuple[int, int]:
    """How many moves to CUDA a program makes only where it is there, with nothing in their place; how many
    others."""
    asked = sum(len(_MOVES.findall(found[2])) for found in _WHERE_THERE.finditer(_without_demands(text)))
    return asked, len(_MOVES.findall(text)) - asked


def offers_device(text: str) -> bool:
    """Whether a program seems to have an option about the device."""
    return _OFFERS.search(text) is not None


def numbers_devices(text: str) -> bool:
    """Whether it seems to have an option that may be the number of a GPU, and the cpu where it is none."""
    return _NUMBERS.search(text) is not None


def places_elsewhere(text: str) -> bool:
    """Whether a program, without its comments, may have anything on another GPU than the default one."""
    if _PLACES.search(text) is not None:
        return True
    return _NUMBERED.search(text) is not None and not limits_devices(text)


def chooses_besides(text: str) -> bool:
    """Whether a program, without its comments, seems to have a choice but that of CUDA where it is there."""
    return chooses_device(_AVAILABLE.sub("", text))


def sets_current_device(text: str) -> bool:
    """Whether a program says which GPU is the current one."""
    return _SETS_CURRENT.search(text) is not None


def limits_devices(text: str) -> bool:
    """Whether it says itself which GPUs it sees."""
    return _SHOWS.search(text) is not None


@lru_cache(maxsize=4)
def _without_demands(text: str) -> str:
    """The same text is asked for several signs, one after the other; most have nothing to take away."""
    if "cpu" in text:
        text = _BRINGS_BACK.sub("", text)
    return _DEMANDS.sub("", text) if "is_available" in text else text


def _said(on: str, name: str) -> Iterator[str]:
    refused = False
    for hint in HINTS:
        if on in hint.on and re.search(hint.pattern, name):
            refused |= hint.says == "no-accelerator"
            if not (refused and hint.says == "accelerator"):
                yield hint.says
