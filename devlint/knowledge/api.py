"""Dotted names and what they mean to device placement; data that the inference looks up.

Sources: PyTorch 2.13.0's signatures and docstrings unless a line says otherwise.
"""

from __future__ import annotations

TENSOR_MODULES = ("torch.nn.functional.", "torch.linalg.", "torch.fft.", "torch.special.", "torch.sparse.")
"""Libraries whose lower-case functions take and give tensors."""

FACTORIES = frozenset(
    """
    arange bartlett_window blackman_window empty empty_permuted empty_strided eye full
    hamming_window hann_window kaiser_window linspace logspace ones rand randint randn randperm
    range tensor zeros as_tensor asarray sparse_coo_tensor sparse_csr_tensor sparse_csc_tensor
    sparse_bsr_tensor sparse_bsc_tensor normal tril_indices triu_indices complex polar frombuffer
    scalar_tensor
    """.split()
)
"""`torch.*` calls that make a tensor on `device=`, or on the cpu without it (unless made from tensors)."""

FROM_DATA = frozenset({"tensor", "as_tensor", "asarray", "normal", "complex", "polar", "sparse_coo_tensor"})
"""Factories whose tensor arguments, if any, decide the device or are copied."""

LEGACY_TYPES = frozenset(
    """
    Tensor FloatTensor DoubleTensor HalfTensor BFloat16Tensor ByteTensor CharTensor ShortTensor
    IntTensor LongTensor BoolTensor
    """.split()
)
"""`torch.FloatTensor(…)` and friends: always on the cpu."""

TORCH_NOT_TENSOR = {
    "device": "device",
    "is_tensor": "number",
    "is_grad_enabled": "number",
    "numel": "number",
    "equal": "number",
    "allclose": "number",
    "finfo": "other",
    "iinfo": "other",
    "Size": "other",
    "Generator": "other",
    "no_grad": "other",
    "enable_grad": "other",
    "set_grad_enabled": "other",
    "inference_mode": "other",
    "autocast": "other",
    "load": "unknown",
    "save": "None",
    "compile": "unknown",
    "manual_seed": "other",
    "seed": "number",
    "typename": "string",
    "is_floating_point": "number",
    "is_complex": "number",
    "get_default_dtype": "dtype",
    "promote_types": "dtype",
    "result_type": "dtype",
    "broadcast_shapes": "other",
    "vmap": "unknown",
    "cond": "unknown",
    "get_device_module": "other",
}
"""`torch.*` callables that neither make nor combine tensors, and the kind of what they return."""

DTYPES = frozenset(
    """
    float float16 float32 float64 half double bfloat16 int int8 int16 int32 int64 long short uint8
    uint16 uint32 uint64 bool complex64 complex128 cfloat cdouble quint8 qint8 qint32 float8_e4m3fn
    float8_e5m2
    """.split()
)
"""`torch.*` names that are dtypes."""

CAST_METHODS = frozenset(
    """
    float double half bfloat16 long int short byte char bool cfloat cdouble chalf type
    """.split()
)
"""Tensor methods that return a copy in another dtype."""

MODULE_CASTS = frozenset({"float", "double", "half", "bfloat16", "type"})
"""Casts that modules have too, and apply in place."""

MOVE_METHODS = frozenset({"to", "cuda", "cpu", "xpu", "mtia", "ipu"})
"""Methods that move: a tensor's return a copy, a module's work in place."""

ACCELERATOR_TYPES = frozenset(
    {"cuda", "mps", "xpu", "hpu", "npu", "mtia", "xla", "musa", "ipu", "privateuseone"}
)
"""Device types that are no cpu."""

NUMBER_METHODS = frozenset(
    """
    item size dim ndimension numel nelement tolist stride element_size get_device data_ptr
    storage_offset is_contiguous is_floating_point is_complex is_pinned __len__ equal allclose
    is_same_size output_nr
    """.split()
)
"""Tensor methods whose result is no tensor."""

NUMBER_ATTRIBUTES = frozenset(
    {"shape", "ndim", "requires_grad", "is_leaf", "nbytes", "itemsize", "names", "layout"}
)
"""Tensor attributes that are no tensor."""

NOT_MODULES = frozenset({"Parameter", "Buffer", "UninitializedParameter", "UninitializedBuffer", "Module"})
"""Capitalised names in `torch.nn` that are no ready-made module class."""

LOSSES = frozenset(
    """
    BCELoss BCEWithLogitsLoss CTCLoss CosineEmbeddingLoss CrossEntropyLoss GaussianNLLLoss
    HingeEmbeddingLoss HuberLoss KLDivLoss L1Loss MSELoss MarginRankingLoss MultiLabelMarginLoss
    MultiLabelSoftMarginLoss MultiMarginLoss NLLLoss NLLLoss2d PoissonNLLLoss SmoothL1Loss
    SoftMarginLoss TripletMarginLoss TripletMarginWithDistanceLoss CosineSimilarity PairwiseDistance
    """.split()
)
"""`torch.nn` modules whose arguments must share a device, wherever the module is."""

CPU_ARGUMENTS: dict[str, tuple[int | str, ...]] = {
    "ctc_loss": (2, 3, "input_lengths", "target_lengths"),
    "CTCLoss": (2, 3, "input_lengths", "target_lengths"),
    "pack_padded_sequence": (1, "lengths"),
}
"""Positions and names of arguments that may or must stay on the cpu (their documentation says so)."""

SCATTERING_WRAPPERS = frozenset(
    {
        "torch.nn.DataParallel",
        "torch.nn.parallel.DataParallel",
        "torch.nn.parallel.data_parallel.DataParallel",
        "torch.nn.parallel.DistributedDataParallel",
        "torch.nn.parallel.distributed.DistributedDataParallel",
    }
)
"""Wrappers whose forward copies its inputs to the device (DDP: when `device_ids` is given)."""

MODULE_WRAPPERS = SCATTERING_WRAPPERS | {
    "torch.compile",
    "torch.jit.script",
    "torch.jit.trace",
    "torch.nn.SyncBatchNorm.convert_sync_batchnorm",
    "torch.nn.utils.weight_norm",
    "torch.nn.utils.spectral_norm",
    "torch.nn.utils.parametrizations.weight_norm",
    "torch.nn.utils.parametrizations.spectral_norm",
}
"""Callables that return a module around, or the same as, their first argument."""

REPLACING_WRAPPERS = frozenset(
    {
        "torch.distributed.fsdp.FullyShardedDataParallel",
        "torch.distributed.fsdp.fully_sharded_data_parallel.FullyShardedDataParallel",
    }
)
"""Wrappers that replace the parameters: an optimizer built before holds dead ones (FSDP docstring)."""

LOADERS = frozenset(
    {
        "torch.utils.data.DataLoader",
        "torch.utils.data.dataloader.DataLoader",
        "monai.data.DataLoader",
        "monai.data.dataloader.DataLoader",
    }
)
"""Loaders whose batches are made by `default_collate` or a given `collate_fn`, on the cpu."""

TENSOR_DATASETS = frozenset({"torch.utils.data.TensorDataset", "torch.utils.data.dataset.TensorDataset"})
"""Datasets that index the tensors they are given, wherever those are."""

PASS_THROUGH = frozenset(
    """
    tqdm.tqdm tqdm.auto.tqdm tqdm.notebook.tqdm tqdm.rich.tqdm tqdm.autonotebook.tqdm tqdm.std.tqdm
    tqdm.trange rich.progress.track iter reversed list tuple sorted itertools.islice itertools.cycle
    itertools.chain alive_progress.alive_it progressbar.progressbar copy.copy copy.deepcopy set
    torch.autograd.Variable torch.autograd.variable.Variable
    """.split()
)
"""Callables whose result is, or yields, what their first argument is or yields."""

OPTIMIZERS = frozenset(
    """
    ASGD Adadelta Adafactor Adagrad Adam AdamW Adamax LBFGS Muon NAdam RAdam RMSprop Rprop SGD
    SparseAdam
    """.split()
)
"""The classes of `torch.optim`."""

OPTIMIZER_CLASSES = frozenset(
    """
    transformers.AdamW transformers.Adafactor transformers.optimization.AdamW
    transformers.optimization.Adafactor apex.optimizers.FusedAdam apex.optimizers.FusedSGD
    apex.optimizers.FusedLAMB bitsandbytes.optim.AdamW8bit bitsandbytes.optim.Adam8bit
    lion_pytorch.Lion timm.optim.AdamP timm.optim.Lamb
    """.split()
)
"""Optimizer classes outside of `torch.optim`."""


def is_optimizer(dotted: object) -> bool:
    """Whether a dotted name is an optimizer's class."""
    if not isinstance(dotted, str):
        return False
    return dotted in OPTIMIZER_CLASSES or (
        "optim" in dotted and dotted.rsplit(".", 1)[-1].startswith(tuple(OPTIMIZERS))
    )


STATE_IN_CONSTRUCTOR = frozenset({"Adagrad"})
"""Optimizers that allocate tensor state when built (measured: of `torch.optim`, Adagrad alone)."""

STATELESS = frozenset({"SGD"})
"""Optimizers without state on a device, if without momentum."""

IN_PLACE_CLASSES = frozenset(
    """
    transformers.BatchEncoding transformers.BatchFeature
    transformers.tokenization_utils_base.BatchEncoding
    transformers.feature_extraction_utils.BatchFeature torch_geometric.data.Data
    torch_geometric.data.Batch torch_geometric.data.HeteroData torch_geometric.data.TemporalData
    flair.data.Sentence flair.data.Token torchmetrics.Metric torchmetrics.MetricCollection
    torch_geometric.data.data.Data
    """.split()
)
"""Classes that are no `nn.Module` to the reader but whose `.to` moves the object itself."""

IN_PLACE_LOADERS = (
    "torch_geometric.loader.",
    "torch_geometric.data.DataLoader",
    "torch_geometric.dataloader.",
)
"""Loaders whose batches move themselves (PyG `Data.to` works in place)."""

TENSOR_MODELS = ("torch.nn.", "transformers.", "torchvision.models.", "timm.")
"""Libraries whose models need every tensor that they are given on their own device."""

MODULE_FACTORIES = (
    "torchvision.models.",
    "timm.create_model",
    "timm.models.",
    "segmentation_models_pytorch.",
    "torch.hub.load",
    "clip.model.",
)
"""Libraries whose callables return modules."""

HF_CALLS = frozenset({"from_pretrained", "from_config"})
"""Class methods of transformers and diffusers that build a model (or, on tokenizers, something else)."""

TENSOR_SOURCES = (
    "torchvision.transforms.functional.to_tensor",
    "torchvision.io.read_image",
    "torchvision.io.decode_image",
)
"""Functions of other libraries that return a tensor on the cpu."""

CUDA_BY_NATURE = frozenset(
    """
    triton cupy pycuda numba.cuda cuda tensorrt torch_tensorrt apex flash_attn bitsandbytes nvidia
    pynvml deepspeed transformer_engine cutlass cuml cudf rmm vllm kaolin spconv tinycudann
    diff_gaussian_rasterization gsplat nvdiffrast torch.utils.cpp_extension minkowski
    MinkowskiEngine cuda_ext torch2trt cugraph pylibcugraph deep_gemm deep_ep flashinfer aiter
    sgl_kernel flash_mla fast_hadamard_transform torch_npu torch_mlu torch_musa habana_frameworks
    """.split()
)
"""Packages that run on an accelerator alone: a module that imports one needs the device anyway."""

CUDA_QUERIES = frozenset(
    """
    torch.cuda.is_available torch.cuda.device_count torch.cuda.is_initialized
    torch.cuda.is_bf16_supported torch.backends.mps.is_available torch.backends.mps.is_built
    torch.xpu.is_available torch.accelerator.is_available torch.backends.cuda.is_built
    torch.mps.is_available torch.accelerator.device_count torch.npu.is_available
     torch.hpu.is_available torch.mps.device_count
    torch.xpu.device_count torch.cuda.device_memory_used
    """.split()
)
"""Calls that are true, or not zero, when an accelerator is there."""

CUDA_NEEDED = frozenset(
    """
    torch.cuda.set_device torch.cuda.synchronize torch.cuda.get_device_name
    torch.cuda.get_device_properties torch.cuda.current_device torch.cuda.Stream torch.cuda.Event
    torch.cuda.current_stream torch.cuda.reset_peak_memory_stats torch.cuda.mem_get_info
    torch.cuda.get_device_capability torch.cuda.default_stream torch.cuda.CUDAGraph torch.cuda.graph
    torch.cuda.current_blas_handle torch.cuda.MemPool torch.cuda.graph_pool_handle torch.cuda.ipc_collect
    """.split()
)
"""Calls that raise without CUDA: what they dominate runs with CUDA alone (measured on a CPU build)."""

RECORDS = frozenset({"SimpleNamespace", "Namespace", "Mock", "MagicMock", "AsyncMock", "PropertyMock"})
"""Callables that only keep what they are given, mostly for tests: a device among it places nothing."""

DEVICE_KEYWORDS = frozenset({"device", "map_location", "output_device"})
"""Keyword arguments that take a device."""

FRAMEWORK_BASES = (
    "pytorch_lightning.",
    "lightning.",
    "lightning_fabric.",
    "fastai.",
    "composer.",
    "transformers.Trainer",
    "transformers.trainer.",
    "accelerate.",
    "deepspeed.",
    "ignite.",
    "catalyst.",
    "skorch.",
)
"""Frameworks that move batches and modules themselves: no placement inside their classes is the author's."""

CONFIGURES = frozenset(
    {
        "GradScaler",
        "set_defaults",
        "update",
        "dict",
        "add_argument",
        "setdefault",
        "field",
        "Field",
        "option",
        "Option",
    }
)
"""Callables to which `device=` is a setting that the user can change, or that accept any (`GradScaler`)."""
