# mypy: ignore-errors
"""Reads the bytes of tensors by every way that goes around torch's operators."""

import copy
import inspect
import io
import pickle

import torch
from torch import nn
from torch.utils import dlpack

device = torch.device("cuda:0" if torch.cuda.is_available() else "cpu")
x = torch.arange(6.0).reshape(2, 3).to(device)
seen, cuda = {}, {}


def saved(value, **options):
    file = io.BytesIO()
    torch.save(value, file, **options)
    return file


def loaded(file, **options):
    file.seek(0)
    return torch.load(file, **options)


def told(value):
    """Values, and that they are on the device."""
    return value.tolist(), value.device == device


seen["pickle"] = told(pickle.loads(pickle.dumps(x[:, 1:])))
seen["deepcopy"] = told(copy.deepcopy(nn.Parameter(x)).detach())
for name, zipped in (("zip", True), ("legacy", False)):
    both = loaded(saved({"whole": x, "row": x[0]}, _use_new_zipfile_serialization=zipped))
    seen[f"{name} save"] = told(both["whole"]), told(both["row"])
    both["whole"].zero_()
    seen[f"{name} save keeps what is shared"] = both["row"].tolist()
seen["typed storage"] = x.storage().tolist()
seen["storage"] = x.untyped_storage().tolist()
seen["storage size"] = x.untyped_storage().nbytes()
seen["storage on the cpu"] = x.untyped_storage().cpu().tolist()
seen["storage copied"] = torch.UntypedStorage(24).copy_(x.untyped_storage()).tolist()
seen["storage cloned"] = x.untyped_storage().clone().tolist()
seen["storage byte"] = x.untyped_storage()[7]
seen["storage made"] = torch.UntypedStorage(8, device=device).fill_(1).tolist()
seen["storage moved"] = x.cpu().untyped_storage().to(device=device).tolist()
seen["capsule"] = told(dlpack.from_dlpack(dlpack.to_dlpack(x)))
seen["from_dlpack"] = told(torch.from_dlpack(x))
elsewhere = {"device": "cpu"} if "device" in inspect.signature(torch.from_dlpack).parameters else {}
seen["from_dlpack to the cpu"] = torch.from_dlpack(x, **elsewhere).tolist()
shared = x.clone()
torch.from_dlpack(shared)[0, 0] = 9.0
seen["from_dlpack shares"] = shared.tolist()
seen["set_"] = torch.empty(0, device=device).set_(x.untyped_storage(), 3, (3,), (1,)).tolist()
seen["set_ of bytes"] = torch.empty(0, dtype=torch.uint8, device=device).set_(x.untyped_storage()).tolist()
seen["as another dtype"] = x.view(torch.int32).tolist()
seen["equal"] = torch.equal(x, x.clone()), torch.equal(x, x + 1)
seen["text"] = str(x).replace(", device='cuda:0'", "")

seen["address of a view"] = x[1].data_ptr() - x.data_ptr()
seen["one storage, one address"] = x[1].untyped_storage().data_ptr() == x.data_ptr()
seen["another dtype, the same storage"] = (
    x.view(torch.int32).untyped_storage()._cdata == x.untyped_storage()._cdata
)
first, second = nn.Linear(3, 3).to(device), nn.Linear(3, 3).to(device)
second.weight = first.weight
parameters = [first.weight, first.bias, second.weight, second.bias]
seen["tied weights"] = len({p.data_ptr() for p in parameters}), all(p.data_ptr() for p in parameters)
seen["tied storages"] = len({p.untyped_storage().data_ptr() for p in parameters})
seen["address after a move"] = x.to(device).data_ptr() == x.data_ptr(), x.clone().data_ptr() == x.data_ptr()

grown = torch.arange(3.0, device=device)
alias = grown.view(3)
try:
    grown.resize_(1000)
    grown[:3] = 7.0
    seen["a grown storage"] = alias.tolist(), alias.data_ptr() == grown.data_ptr()
    freed = torch.ones(4, device=device)
    rows = freed.view(2, 2)
    freed.untyped_storage().resize_(0)
    seen["a freed storage"] = freed.untyped_storage().nbytes(), list(rows.shape)
    freed.untyped_storage().resize_(16)
    freed.fill_(2.0)
    seen["a freed storage, filled"] = rows.tolist()
except Exception as error:
    seen["resized"] = type(error).__name__, str(error)

image = torch.arange(128.0).reshape(2, 4, 4, 4).contiguous(memory_format=torch.channels_last).to(device)
norm = nn.GroupNorm(2, 4).to(device)
seen["group norm, channels last"] = [round(v, 4) for v in norm(image).flatten()[::9].tolist()]
torch.manual_seed(0)
encoder = nn.TransformerEncoder(
    nn.TransformerEncoderLayer(8, 2, 16, batch_first=True), 2, norm=nn.LayerNorm(8)
)
encoder, words = encoder.eval().to(device), torch.randn(2, 3, 8).to(device)
padding = torch.tensor([[False, False, True], [False, True, True]]).to(device)
with torch.no_grad():
    out = encoder(words, src_key_padding_mask=padding)
seen["padded encoder"] = [round(v, 4) for v in out.flatten().tolist()], out.device == device
graded = encoder(words, src_key_padding_mask=padding)
graded.sum().backward()
seen["padded encoder, with gradients"] = [round(v, 4) for v in graded[:, 0].flatten().tolist()]

pinned = torch.ones(4, pin_memory=torch.cuda.is_available())
if torch.cuda.is_available():
    places = {
        "None": None,
        "cpu": "cpu",
        "cuda": "cuda",
        "0": 0,
        "to the cpu": {"cuda:0": "cpu"},
        "function": lambda storage, location: storage,
        "move": lambda storage, location: storage.cuda(),
    }
    file = saved(x)
    cuda |= {f"load {name}": str(loaded(file, map_location=where).device) for name, where in places.items()}
    loaded(file, map_location=lambda storage, location: cuda.update(tag=location))
    cuda["storage"] = str(x.untyped_storage().device), x.untyped_storage().is_cuda, x.storage().type()
    cuda["interface"] = x.__cuda_array_interface__["data"][0] == x.data_ptr()
    cuda["shared"] = x.is_shared(), x.share_memory_() is x
    cuda["pinned"] = pinned.is_pinned(), pinned[1:].is_pinned(), pinned.clone().is_pinned()
    cuda["pinned copy"] = torch.ones(2).pin_memory().is_pinned(), torch.ones(2).is_pinned()
