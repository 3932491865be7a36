"""The simulated device answers as the cpu or CUDA does, or says that it cannot; it never makes values up."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

OBSERVED = {
    "memory": "(seen, cuda)",
    "precision": "(seen, {})",
    "limits": "(seen, properties)",
    "recurrent": "(seen, cuda)",
}


@pytest.fixture(scope="module")
def values(
    observe: Callable[[dict[str, str]], dict[tuple[str, str], tuple[dict[str, Any], dict[str, Any]]]],
) -> dict[tuple[str, str], tuple[dict[str, Any], dict[str, Any]]]:
    """What each program found out, by program and device."""
    return observe(OBSERVED)


READS = (
    *("pickle", "deepcopy", "zip save", "zip save keeps what is shared", "legacy save"),
    *("legacy save keeps what is shared", "typed storage", "storage", "storage size", "storage on the cpu"),
    *("storage copied", "storage cloned", "storage byte", "storage made", "storage moved", "capsule"),
    *("from_dlpack", "from_dlpack to the cpu", "from_dlpack shares", "set_", "set_ of bytes"),
    *("as another dtype", "equal", "text", "address of a view", "one storage, one address"),
    *("another dtype, the same storage", "tied weights", "tied storages", "address after a move"),
    *("group norm, channels last", "padded encoder", "padded encoder, with gradients"),
)
RESIZED = ("a grown storage", "a freed storage", "a freed storage, filled")


@pytest.mark.parametrize("way", READS)
def test_bytes_are_read_as_on_the_cpu(values: dict[tuple[str, str], Any], way: str) -> None:
    assert values["memory", "sim"][0][way] == values["memory", "cpu"][0][way]


def test_every_way_to_read_is_compared(values: dict[tuple[str, str], Any]) -> None:
    assert set(values["memory", "cpu"][0]) == {*READS, *RESIZED}


def test_storages_are_resized_or_refused(values: dict[tuple[str, str], Any]) -> None:
    """Old releases of torch cannot give a storage other memory."""
    seen = values["memory", "sim"][0]
    if "resized" in seen:
        assert seen["resized"][0] == "NotSimulated"
    else:
        assert {way: seen[way] for way in RESIZED} == {
            way: values["memory", "cpu"][0][way] for way in RESIZED
        }


CUDA = {
    "load None": "cuda:0",
    "load cpu": "cpu",
    "load cuda": "cuda:0",
    "load 0": "cuda:0",
    "load to the cpu": "cpu",
    "load function": "cpu",
    "load move": "cuda:0",
    "tag": "cuda:0",
    "storage": ("cuda:0", True, "torch.cuda.FloatStorage"),
    "interface": True,
    "shared": (True, True),
    "pinned": (True, True, False),
    "pinned copy": (True, False),
}


@pytest.mark.parametrize("question", CUDA)
def test_storages_answer_as_cuda(values: dict[tuple[str, str], Any], question: str) -> None:
    assert values["memory", "sim"][1][question] == CUDA[question]


PRECISION = {
    "linear": "low",
    "matmul": "low",
    "double stays": "double",
    "convolution": "low",
    "exp": "single",
    "sum": "single",
    "sum, asked for": "low",
    "softmax": "single",
    "norm": "single",
    "layer norm": "single",
    "loss": "single",
    "widest": "single",
    "none wider": "low",
    "others": "low",
    "lstm": "low",
    "integers": "torch.int64",
    "cpu": "single",
    "enabled": (True, True),
    "dtype": "low",
    "disabled inside": "single",
}
"""Under autocast; `low` is the precision that was asked for."""
AROUND = {
    "unsafe": "unsafe to autocast.",
    "gradient after half": "single",
    "gradient after bfloat16": "single",
    "for the cpu": "single",
    "old spelling": "half",
    "decorated": "half",
    "default": "half",
    "after": ("single", False),
    "recomputed": ["half", "half"],
}


@pytest.mark.parametrize("operator", PRECISION)
@pytest.mark.parametrize("low", ["half", "bfloat16"])
def test_autocast(values: dict[tuple[str, str], Any], low: str, operator: str) -> None:
    expected = PRECISION[operator]
    assert values["precision", "sim"][0][low][operator] == (low if expected == "low" else expected)


@pytest.mark.parametrize("question", AROUND)
def test_around_autocast(values: dict[tuple[str, str], Any], question: str) -> None:
    assert values["precision", "sim"][0][question] == AROUND[question]


def test_autocast_knows_the_operators_of_cuda(laboratory: Callable[..., Any]) -> None:
    """Those left have no counterpart here; names of dimensions are gone from newer releases of torch."""
    apart = {"aten::cudnn_convolution", "aten::cudnn_convolution_transpose", "aten::_cudnn_rnn"}
    assert set(laboratory("dispatcher.without_autocast")) <= {*apart, "aten::norm.names_ScalarOpt_dim"}


def test_no_kernel_for_all_backends_stands_in_for_one_of_the_cpu(laboratory: Callable[..., Any]) -> None:
    assert laboratory("dispatcher.outdone") == []


REFUSED = (
    *("sparse", "sparse made", "sparse moved", "sparse rows", "sparse gradient", "nested", "quantized"),
    *("another process", "graph", "snapshot", "pool", "accelerator", "fsdp", "power", "operator"),
)
RAISED = {
    "numpy": ("TypeError", "can't convert sim:0 device type tensor to numpy"),
    "asarray": ("TypeError", "can't convert sim:0 device type tensor to numpy"),
    "__array__": ("TypeError", "can't convert sim:0 device type tensor to numpy"),
    "numpy by dlpack": ("RuntimeError|BufferError", "nsupported device"),
    "buffer": ("ValueError", "buffer protocol"),
    "second device": ("RuntimeError", "invalid device ordinal"),
    "pinned": ("RuntimeError", "only dense CPU tensors can be pinned"),
    "mixed padding": ("RuntimeError", "Expected all tensors to be on the same device"),
    "forked": ("RuntimeError", "Cannot re-initialize CUDA in forked subprocess"),
}
"""What a GPU raises too."""


@pytest.mark.parametrize("what", REFUSED)
def test_limits_are_told(values: dict[tuple[str, str], Any], what: str) -> None:
    """By an error that is none of torch's, which programs handle and claims are about."""
    name, is_torchs, message = values["limits", "sim"][0][what]
    if name == "AttributeError" and message.endswith("'torch.accelerator' has no attribute 'Graph'"):
        pytest.skip("that came with torch 2.11 or later")
    assert (name, is_torchs) == ("NotSimulated", False)
    assert message.startswith("not simulated: ")


@pytest.mark.parametrize("what", RAISED)
def test_raises_as_cuda(values: dict[tuple[str, str], Any], what: str) -> None:
    name, _, message = values["limits", "sim"][0][what]
    assert name in RAISED[what][0].split("|")
    assert RAISED[what][1] in message


def test_every_limit_is_looked_at(values: dict[tuple[str, str], Any]) -> None:
    assert set(values["limits", "sim"][0]) == {*REFUSED, *RAISED}


ON_CUDA = (True, "cuda:0", 0, "torch.cuda.FloatTensor", 21.0)
PROPERTIES = {
    "plain": ON_CUDA,
    "subclass": ON_CUDA,
    "context": ON_CUDA,
    "made in context": ["cuda", "cuda", "cuda", "cuda"],
    "named in context": "cpu",
    "mode": ON_CUDA,
    "of the cpu": (False, "cpu"),
    "what the mode hears": ("ones", "cuda"),
    "subclass kept": ["Marked", "Marked"],
}


@pytest.mark.parametrize("where", PROPERTIES)
def test_properties_hold_wherever_they_are_asked(values: dict[tuple[str, str], Any], where: str) -> None:
    assert values["limits", "sim"][1][where] == PROPERTIES[where]


def test_recurrent_networks_give_what_they_give_on_the_cpu(values: dict[tuple[str, str], Any]) -> None:
    here, there = (values["recurrent", device][0] for device in ("sim", "cpu"))
    assert [way for way in there if here[way] != there[way]] == []
    assert (there["freed"], there["changed in between"]) == (True, True)


def test_recurrent_networks_are_refused_what_is_elsewhere(values: dict[tuple[str, str], Any]) -> None:
    cuda = values["recurrent", "sim"][1]
    said = "{} tensors are not at the same device, found input tensor at "
    assert cuda.pop("input left behind").startswith(said.format("Input and parameter"))
    assert cuda.pop("state left behind").startswith(said.format("Input and hidden"))
    assert cuda == {"autocast": "torch.float16", "device": "cuda:0", "steps": 1}
