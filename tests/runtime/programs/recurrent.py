# mypy: ignore-errors
"""Asks what recurrent networks give, and their gradients, and what stops them."""

import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
seen = {}
KINDS = {"lstm": nn.LSTM, "gru": nn.GRU, "rnn": nn.RNN}
OPTIONS = {
    "plain": {},
    "two ways, with dropout": {"num_layers": 2, "bidirectional": True, "dropout": 0.3},
    "batch first": {"bias": False, "batch_first": True},
}


def rounded(*tensors):
    return [[f"{number:.4g}" for number in tensor.flatten().tolist()] for tensor in tensors]


def gradients(model):
    return [parameter.grad for parameter in model.parameters()]


for kind, make in KINDS.items():
    for name, options in OPTIONS.items():
        way = f"{kind}, {name}"
        torch.manual_seed(1)
        model = make(3, 4, **options).double()
        x = torch.rand(4, 4, 3, dtype=torch.float64).to(device).requires_grad_()
        model.to(device)
        y, hidden = model(x)
        last = hidden if isinstance(hidden, tuple) else (hidden,)
        (y.pow(2).sum() + sum(each.sum() for each in last)).backward()
        seen[way] = rounded(y, *last, x.grad, *gradients(model))
        with torch.no_grad():
            seen[f"{way}, without gradients"] = rounded(model(x)[0])
        packed = pack_padded_sequence(x.detach(), torch.tensor([4, 2, 2, 1]), batch_first="first" in name)
        model.zero_grad()
        y, _ = model(packed)
        y.data.sum().backward()
        seen[f"{way}, packed"] = rounded(y.data, *gradients(model))
        model.zero_grad()
        (gradient,) = torch.autograd.grad(model(x)[0].pow(2).sum(), x, create_graph=True)
        gradient.pow(2).sum().backward()
        seen[f"{way}, twice"] = rounded(*gradients(model))

model = nn.LSTM(3, 4).to(device)
x = torch.ones(2, 2, 3, device=device)


def error(call):
    try:
        call()
    except RuntimeError as raised:
        return str(raised).replace("sim:0", "cuda:0").splitlines()[0]
    return None


y, _ = model(x)
steps, found = [y.grad_fn], []
while steps:
    step = steps.pop()
    found.append(type(step).__name__)
    steps += [each for each, _ in step.next_functions if each is not None]
y.sum().backward(retain_graph=True)
y.sum().backward()
seen["again"] = rounded(model.weight_ih_l0.grad)
seen["freed"] = "second time" in error(lambda: y.sum().backward())
y, _ = model(x)
with torch.no_grad():
    model.weight_hh_l0.mul_(2)
seen["changed in between"] = "inplace operation" in error(lambda: y.sum().backward())
parameters = dict(model.named_parameters())


def loss(parameters):
    return torch.func.functional_call(model, parameters, (x,))[0].pow(2).sum()


seen["functional"] = rounded(*torch.func.grad(loss)(parameters).values())
cuda = {}
if device.type == "cuda":
    cuda["input left behind"] = error(lambda: model(torch.ones(2, 2, 3)))
    state = torch.zeros(1, 2, 4)
    cuda["state left behind"] = error(lambda: model(x, (state, state.cuda())))
    with torch.autocast("cuda"):
        cuda["autocast"] = str(model(x)[0].dtype)
    cuda["steps"] = len(found) - found.count("AccumulateGrad")
    cuda["device"] = str(model(x)[0].device)
