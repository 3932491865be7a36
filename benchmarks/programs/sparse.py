"""Multiplies a sparse matrix with features, which the device cannot simulate."""

import json

import torch

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
torch.manual_seed(0)
losses = []

places = torch.randint(0, 10, (2, 30))
matrix = torch.sparse_coo_tensor(places, torch.ones(30), (10, 10)).to(device)
losses.append(torch.sparse.mm(matrix, torch.ones(10, 4, device=device)).sum().item())

print(json.dumps(losses))
