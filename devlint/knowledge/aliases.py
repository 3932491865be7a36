"""One name for what has several: where torch defines a class, and where it is meant to be imported from."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from .table import pairs

_PUBLIC = """
    torch: torch._tensor torch.functional torch.serialization torch.random torch._C
    torch: torch._C._VariableFunctions
    torch: torch.autograd.grad_mode torch.types torch.storage
    torch.nn: torch.nn.modules torch.nn.parameter torch.nn.modules.module torch.nn.modules.linear
    torch.nn: torch.nn.modules.conv torch.nn.modules.activation torch.nn.modules.normalization
    torch.nn: torch.nn.modules.batchnorm torch.nn.modules.container torch.nn.modules.loss
    torch.nn: torch.nn.modules.rnn
    torch.nn: torch.nn.modules.dropout torch.nn.modules.pooling torch.nn.modules.padding
    torch.nn: torch.nn.modules.sparse
    torch.nn: torch.nn.modules.transformer torch.nn.modules.upsampling torch.nn.modules.instancenorm
    torch.nn: torch.nn.modules.distance torch.nn.modules.fold torch.nn.modules.flatten
    torch.nn: torch.nn.modules.adaptive
    torch.nn: torch.nn.modules.pixelshuffle torch.nn.modules.channelshuffle
    torch.nn.functional: torch._C._nn
    torch.nn.parallel: torch.nn.parallel.data_parallel torch.nn.parallel.distributed
    torch.nn.parallel: torch.nn.parallel.scatter_gather torch.nn.parallel.replicate
    torch.nn.parallel: torch.nn.parallel.parallel_apply
    torch.nn.utils: torch.nn.utils.clip_grad torch.nn.utils.weight_norm torch.nn.utils.spectral_norm
    torch.nn.utils: torch.nn.utils.convert_parameters torch.nn.utils.fusion torch.nn.utils.init
    torch.nn.utils: torch.nn.utils.memory_format
    torch.optim: torch.optim.adadelta torch.optim.adafactor torch.optim._adafactor torch.optim.adagrad
    torch.optim: torch.optim.adam torch.optim.adamw torch.optim.adamax torch.optim.asgd torch.optim.lbfgs
    torch.optim: torch.optim._muon torch.optim.nadam torch.optim.optimizer torch.optim.radam
    torch.optim: torch.optim.rmsprop
    torch.optim: torch.optim.rprop torch.optim.sgd torch.optim.sparse_adam
    torch.utils.data: torch.utils.data.dataloader torch.utils.data.dataset torch.utils.data.sampler
    torch.utils.data: torch.utils.data.distributed torch.utils.data._utils.collate
    torch.utils.data: torch.utils.data._utils.worker
    torch.distributed.fsdp: torch.distributed.fsdp.fully_sharded_data_parallel
    torch.distributed.fsdp: torch.distributed.fsdp._fully_shard torch.distributed._composable.fsdp
    torch.distributed.fsdp: torch.distributed.fsdp._fully_shard._fully_shard
    torch.distributed: torch.distributed.distributed_c10d torch.distributed.device_mesh
    torch.amp: torch.amp.autocast_mode torch.amp.grad_scaler
    torch.cuda.amp: torch.cuda.amp.autocast_mode torch.cuda.amp.grad_scaler
    torch.cuda: torch.cuda.memory torch.cuda.random torch.cuda.streams torch.cuda.graphs
    torch.accelerator: torch.accelerator.memory torch.accelerator._utils torch.accelerator.graphs
    torch.xpu: torch.xpu.memory torch.xpu.random torch.xpu.streams
    torch.mps: torch.mps.event
    torch.jit: torch.jit._script torch.jit._trace torch.jit._serialization torch.jit._freeze
    torch.autograd: torch.autograd.variable torch.autograd.anomaly_mode torch.autograd.function
    torch.distributions: torch.distributions.normal torch.distributions.log_normal
    torch.distributions: torch.distributions.laplace torch.distributions.cauchy torch.distributions.gumbel
    torch.distributions: torch.distributions.multivariate_normal torch.distributions.uniform
    torch.distributions: torch.distributions.bernoulli torch.distributions.geometric
    torch.distributions: torch.distributions.categorical torch.distributions.one_hot_categorical
    torch.distributions: torch.distributions.beta torch.distributions.dirichlet torch.distributions.gamma
    torch.distributions: torch.distributions.exponential torch.distributions.poisson torch.distributions.kl
    torch.func: torch._functorch.functional_call torch._functorch.apis
    torch.testing: torch.testing._comparison torch.testing._creation
    torch.multiprocessing: torch.multiprocessing.spawn
    torch.profiler: torch.profiler.profiler
    pytorch_lightning: lightning.pytorch pytorch_lightning.core pytorch_lightning.core.module lightning
    pytorch_lightning: pytorch_lightning.core.lightning pytorch_lightning.trainer
    pytorch_lightning: pytorch_lightning.trainer.trainer
    lightning_fabric: lightning.fabric
    torchmetrics: torchmetrics.metric torchmetrics.collections pytorch_lightning.metrics
    torchmetrics: pytorch_lightning.metrics.metric
    transformers: transformers.tokenization_utils_base transformers.feature_extraction_utils
    transformers: transformers.modeling_utils transformers.trainer transformers.data
    transformers: transformers.data.data_collator
    torch_geometric.data: torch_geometric.data.data torch_geometric.data.batch
    torch_geometric.data: torch_geometric.data.hetero_data
    monai.data: monai.data.dataloader
    tqdm: tqdm.std
    unittest: unittest.case
    pytest: _pytest.python_api _pytest.outcomes _pytest.fixtures
    """
"""Modules that are not where their names are meant to be imported from, with those that are."""
_SAME = """
    torch.amp.autocast: torch.autocast
    torch.amp.GradScaler: torch.GradScaler
    torch.nn.parallel.DataParallel: torch.nn.DataParallel
    torch.hub.load_state_dict_from_url: torch.utils.model_zoo.load_url
    torch.hub.load_state_dict_from_url: torchvision.models.utils.load_state_dict_from_url
    torch.hub.load_state_dict_from_url: torchvision._internally_replaced_utils.load_state_dict_from_url
    unittest.mock.Mock: mock.Mock
    unittest.mock.MagicMock: mock.MagicMock
    """
"""Names that are one object in two public modules."""


@lru_cache(maxsize=4096)
def public(dotted: str) -> str:
    """The name under which a thing is meant to be imported, as far as devlint knows it by another."""
    modules = pairs(_PUBLIC)
    head, _, rest = dotted.rpartition(".")
    while head:
        if head in modules:
            dotted = f"{modules[head]}.{rest}"
            break
        head, _, part = head.rpartition(".")
        rest = f"{part}.{rest}"
    return pairs(_SAME).get(dotted, dotted)


def hidden() -> Iterator[str]:
    """The modules that have public ones."""
    yield from pairs(_PUBLIC)
