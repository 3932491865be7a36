# mypy: ignore-errors
"""Asks for the precision in which operators run, under autocast and without it."""

import torch
import torch.nn.functional as F
from torch import nn

seen = {}
if torch.cuda.is_available():
    x = torch.ones(2, 3, device="cuda")
    target = torch.zeros(2, dtype=torch.long, device="cuda")
    model = nn.Linear(3, 3).cuda()
    name = {
        torch.float16: "half",
        torch.bfloat16: "bfloat16",
        torch.float32: "single",
        torch.float64: "double",
    }
    for dtype in (torch.float16, torch.bfloat16):
        with torch.autocast("cuda", dtype=dtype):
            low = model(x)
            seen[f"{name[dtype]}"] = {
                "linear": name[low.dtype],
                "matmul": name[(x @ x.T).dtype],
                "double stays": name[(x.double() @ x.double().T).dtype],
                "convolution": name[F.conv1d(x[None], torch.ones(1, 2, 1, device="cuda")).dtype],
                "exp": name[low.exp().dtype],
                "sum": name[low.sum().dtype],
                "sum, asked for": name[low.sum(dtype=dtype).dtype],
                "softmax": name[low.softmax(-1).dtype],
                "norm": name[low.norm().dtype],
                "layer norm": name[F.layer_norm(low, (3,)).dtype],
                "loss": name[F.cross_entropy(low, target).dtype],
                "widest": name[torch.addcmul(x, low, low).dtype],
                "none wider": name[torch.addcmul(low, low, low).dtype],
                "others": name[(low * 2).dtype],
                "lstm": name[nn.LSTM(3, 3).cuda()(x)[0].dtype],
                "integers": str((target @ target).dtype),
                "cpu": name[(x.cpu() @ x.cpu().T).dtype],
                "enabled": (torch.is_autocast_enabled(), torch.is_autocast_enabled("cuda")),
                "dtype": name[torch.get_autocast_dtype("cuda")],
            }
            with torch.autocast("cuda", enabled=False):
                seen[f"{name[dtype]}"]["disabled inside"] = name[(x @ x.T).dtype]
            if dtype is torch.float16:
                try:
                    F.binary_cross_entropy(x.sigmoid(), x)
                except RuntimeError as error:
                    seen["unsafe"] = str(error).split(" are ")[1].splitlines()[0]
            loss = low.float().pow(2).mean()
        loss.backward()
        seen[f"gradient after {name[dtype]}"] = name[model.weight.grad.dtype]
    with torch.autocast("cpu"):
        seen["for the cpu"] = name[(x @ x.T).dtype]
    with torch.cuda.amp.autocast():
        seen["old spelling"] = name[(x @ x.T).dtype]

    @torch.autocast("cuda")
    def decorated():
        return x @ x.T

    seen["decorated"] = name[decorated().dtype]
    seen["default"] = name[torch.get_autocast_dtype("cuda")]
    seen["after"] = name[(x @ x.T).dtype], torch.is_autocast_enabled()
    checkpointed = torch.utils.checkpoint.checkpoint
    inside = []
    with torch.autocast("cuda"):
        out = checkpointed(
            lambda t: inside.append(name[(t @ t.T).dtype]) or t @ t.T, x.requires_grad_(), use_reentrant=False
        )
    out.float().sum().backward()
    seen["recomputed"] = inside
