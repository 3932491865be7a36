"""What becomes of an optimizer that is built before its model is moved."""

from __future__ import annotations

import copy
from typing import Any

import torch
from torch import nn

D = "cuda"
OPTIONS: dict[str, dict[str, Any]] = {
    "SGD+momentum": {"momentum": 0.9},
    "Adam fused": {"fused": True},
    "Adam foreach=False": {"foreach": False},
    "Adam capturable": {"capturable": True},
}


def outcome(flag: str, scenario: str, name: str) -> str:
    """`same` as moving first, `silent` if the model never trains, `raises`, or `no setup`."""
    torch.__future__.set_overwrite_module_params_on_conversion(flag == "overwrite")
    torch.__future__.set_swap_module_params_on_conversion(flag == "swap")
    try:
        model, optimizer = _SCENARIOS[scenario](name)
    except Exception:
        return "no setup"
    before = _weight(model)
    try:
        _train(model, optimizer, D, 2)
    except Exception:
        return "raises"
    if torch.equal(before, _weight(model)):
        return "silent"
    return "same" if torch.allclose(_weight(model), _moved_first(scenario, name), atol=1e-5) else "different"


def _moved_first(scenario: str, name: str) -> torch.Tensor:
    model = _model().to(D)  # a device has random numbers of its own
    optimizer = _optimizer(name, model)
    stepped = scenario in ("after_step", "after_step+reload", "load_sd_before")
    _train(model, optimizer, D, 3 if stepped else 2)
    return _weight(model)


def _fresh(name: str) -> tuple[nn.Module, Any]:
    model = _model()
    optimizer = _optimizer(name, model)
    return model.to(D), optimizer


def _after_step(name: str) -> tuple[nn.Module, Any]:
    model = _model()
    optimizer = _optimizer(name, model)
    _train(model, optimizer, "cpu", 1)
    return model.to(D), optimizer


def _after_step_and_reload(name: str) -> tuple[nn.Module, Any]:
    model, optimizer = _after_step(name)
    optimizer.load_state_dict(optimizer.state_dict())
    return model, optimizer


def _load_state_before(name: str) -> tuple[nn.Module, Any]:
    trained = _model()
    saved = _optimizer(name, trained)
    _train(trained, saved, "cpu", 1)
    model = _model()
    optimizer = _optimizer(name, model)
    model.load_state_dict(trained.state_dict())
    optimizer.load_state_dict(copy.deepcopy(saved.state_dict()))
    return model.to(D), optimizer


def _to_empty(name: str) -> tuple[nn.Module, Any]:
    model = _model("meta")
    optimizer = _optimizer(name, model)
    model.to_empty(device=D)
    model.load_state_dict(_model().state_dict())
    return model, optimizer


_SCENARIOS = {
    "fresh": _fresh,
    "after_step": _after_step,
    "after_step+reload": _after_step_and_reload,
    "load_sd_before": _load_state_before,
    "to_empty": _to_empty,
}


def _model(device: str = "cpu") -> nn.Module:
    torch.manual_seed(0)
    model: nn.Module = nn.Linear(3, 2, bias=False, device=device)
    return model


def _optimizer(name: str, model: nn.Module) -> Any:
    kind = getattr(torch.optim, name.partition(" ")[0].partition("+")[0])
    return kind(model.parameters(), lr=0.1, **OPTIONS.get(name, {}))


def _train(model: nn.Module, optimizer: Any, device: str, steps: int) -> None:
    inputs = torch.arange(6.0).view(2, 3).to(device)

    def closure() -> Any:
        optimizer.zero_grad()
        loss = model(inputs).pow(2).sum()
        loss.backward()
        return loss

    for _ in range(steps):
        optimizer.step(closure)


def _weight(model: nn.Module) -> Any:
    return model.weight.detach().cpu().clone()
