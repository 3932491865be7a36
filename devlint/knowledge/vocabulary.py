"""The vocabulary of the inference: names that it asks for by themselves, not as a row."""

from __future__ import annotations

import re
from functools import lru_cache

from ..core.kinds import Kind
from . import names
from .table import words
from .words import hints

MOVES: frozenset[str] = words("to cuda cpu xpu mtia ipu")
"""Methods that move: a tensor's return a copy, a module's work in place."""
FOLLOWS_DEVICE = frozenset({"to"})
"""Those that move nothing where the device that they are given is None."""
YIELDS_ITS_ARGUMENTS = words("enumerate zip list tuple sorted reversed")
"""Builtins that yield what their arguments do, one by one."""
CASTS: frozenset[str] = words(
    "float double half bfloat16 long int short byte char bool cfloat cdouble chalf type"
)
"""Tensor methods that return a copy in another dtype."""
ACCELERATORS = names.ACCELERATOR_TYPES
DEVICE_KEYWORDS = names.DEVICE_PARAMETERS
TAKES_SIZES = words("reshape view expand repeat permute tile flip roll broadcast_to unflatten select")
"""Methods that take numbers alone: a 0-dim tensor among these is read as one, wherever it is."""
OF_ARRAY = words("from_numpy as_tensor tensor asarray")
"""Functions that make a tensor of an array."""
COPIES_DATA = words("tensor as_tensor asarray")
"""Functions that give a tensor where their data are, if that is one."""
OF_ARRAYS = words("astype")
"""Methods that arrays have, and tensors do not."""
READS_ARRAY = words("numpy")
"""Methods that give the data of a tensor of the cpu, and no other."""
WANTS_HOST = words("pack_padded_sequence")
"""Functions that take tensors of the cpu beside others that may be anywhere."""
TRANSFORMS = "torchvision.transforms."
TO_TENSOR = words("ToTensor PILToTensor")
"""Transforms that take a picture or an array, and give a tensor of the cpu."""
DRAWS = words(
    """
    imshow matshow pcolormesh contourf errorbar fill_between plot_surface semilogx semilogy loglog hist2d
    """
)
"""Methods that axes have and little else, which read arrays."""
DRAWN_ON = "matplotlib.axes.Axes"
PRIVATE = "_"
"""What the names of functions begin with that are for the use of their own class or file."""
REGISTERS = words("register_buffer register_parameter")
"""Methods by which a module learns of its own tensors."""
LOADS = words("load load_url load_state_dict_from_url")
"""Functions that read a file of tensors, and may be told where to put those."""
SETS_ATTRIBUTE = "setattr"
LISTS_KEYS = words("items keys")
PART_ENDS = "."
"""What ends the name of a part in a key of a state."""
CUTS = words("replace removeprefix startswith")
"""What is done with the keys of a state, to find those of one part or to name them as another has them."""
LOADS_WEIGHTS, GIVES_WEIGHTS = "load_state_dict", "state_dict"
FILLS_WEIGHTS = words("copy_ load_state_dict")
"""Methods that give a module, or a parameter, the values of others, and leave it where it is."""
WHOLE_MODULE = words("to cuda train eval parameters named_parameters modules named_modules")
"""Methods that a module has from its base, and that concern all of its layers."""
ADDS_LAYERS = words("append extend insert add_module register_module")
"""Methods by which a module comes to consist of more."""
ADDS_BY_NAME = words("add_module register_module")
"""Methods that register a module under a name that they are given."""
FILLS_CONTAINER = words("append extend insert add update setdefault __setitem__ appendleft extendleft")
"""Methods that put items into a container."""
RUNS_ON_PARTS = words("apply _apply")
APPLIES = "_apply"
"""With this method a module moves, or casts, all that it registers."""
"""Methods of a module that run a function on each of its parts, or weights."""
TAKES_OVER = words("assign")
"""Options of `load_state_dict` with which a module has the very tensors that it is given."""
ALL_SIZES = words("shape size")
"""What gives all the sizes of a tensor."""
NEW_AXIS = "numpy.newaxis"
"""What arrays are indexed with: who has a tensor writes `None`."""
MAKES_ROWS = words("stack concatenate vstack hstack arange linspace eye")
"""Functions of numpy whose arrays have dimensions."""
SIZED_ROWS = words("rand randn zeros ones empty full")
"""Those whose arrays have the dimensions of which they are given the sizes first."""
SIZES_OF_ARRAYS = words("size shape")
"""Parameters of numpy that are all the sizes of an array, or none for a number."""
LEAVES_SHAPE = words("astype copy")
"""Methods of arrays whose result has the dimensions of the array."""
KEEPS_ROWS = words("array asarray")
"""Those whose arrays have the dimensions of the list that they are given."""
ONE_BY_ONE = words(
    "array asarray float32 float64 abs absolute negative sign round floor ceil sqrt square cbrt power exp"
    " expm1 log log2 log10 log1p sin cos tan arcsin arccos arctan arctan2 sinh cosh tanh deg2rad rad2deg"
    " radians degrees add subtract multiply divide minimum maximum clip"
)
"""Functions of numpy that make a number of numbers, and keep the dimensions of arrays."""
SEVERAL = "several"
"""The topic of operations that give a tuple of tensors."""
TOUCHES = "touches-cuda"
"""The topic of what initialises CUDA."""
PREPARES = "prepares"
"""The topic of classes that bring what a loader yields to where models are: a caller has it do so."""
CLONES = "clones"
"""The topic of what copies a tensor where it is."""
REWINDS = words("seek")
"""Methods of files and buffers that go back to what was written, or read, before."""
IN_PLACE = "_"
"""How operations end that change what they are given, and give that very tensor."""
LIKENED = "_like"
"""How functions end that make a tensor of the shape of another, where that is."""
PART_OF_RESULT = words("values indices min max mode eigenvalues eigenvectors Q R U S V Vh")
"""Attributes of the tuples that operations give, which are no tensor's."""
JOINS = words("cat concat concatenate")
"""Operations that join tensors along a dimension that they have."""
CLAMPS = words("clamp clip clamp_ clip_")
"""Operations of which one bound that is a number makes a number of the other, as torch 2.13 dispatches."""
NO_SCALARS = CLAMPS | words(
    """
    cat concat concatenate stack hstack vstack dstack column_stack row_stack
    nextafter addmm baddbmm addmv addbmm prelu embedding embedding_bag quantile nanquantile masked_fill
    masked_fill_ masked_select masked_scatter masked_scatter_ index_select gather scatter scatter_
    scatter_add scatter_add_ index_add index_add_ index_copy index_copy_ index_fill index_fill_ take
    take_along_dim repeat_interleave bucketize searchsorted isin mm bmm matmul mv dot einsum conv1d conv2d
    conv3d linear layer_norm group_norm batch_norm grid_sample cdist cross complex equal
    cross_entropy nll_loss
    """
)
"""Operations that take no 0-dim tensor of the cpu beside others on a device, as arithmetic does.

Measured: the checks of torch's own kernels (`device_check: ExactSame` in native_functions.yaml).
"""
OR_NUMBERS = words("repeats")
"""Arguments that are numbers more often than tensors: what nobody knows is none."""
OR_OTHER = words("dim")
"""Arguments in whose place another operand may be: `torch.max(x, y)`. Tensors there are that."""
ALL_TENSORS = words("mm bmm matmul mv dot einsum cdist outer inner kron")
"""Functions that take nothing but tensors, beside the equation of one of them."""
WEIGHT = words("weight")
"""What a layer has in any case; its bias may be None."""
WITHOUT_WEIGHT = words("Module ModuleList ModuleDict Sequential ParameterList ParameterDict DataParallel")
"""Of torch's modules, those that have others, or nothing at all."""
OF_PARAMETERS = words("ParameterList ParameterDict")
"""Modules that have nothing but the parameters which they are given, wherever those are."""
NO_PARAMETERS = words(
    """
    Identity ReLU ReLU6 LeakyReLU ELU CELU SELU GELU SiLU Mish Tanh Sigmoid LogSigmoid Softmax Softmax2d
    LogSoftmax Softmin Softplus Softshrink Softsign Hardshrink Hardsigmoid Hardswish Hardtanh Tanhshrink
    Threshold GLU RReLU Dropout Dropout1d Dropout2d Dropout3d AlphaDropout FeatureAlphaDropout Flatten
    Unflatten Fold Unfold MaxPool1d MaxPool2d MaxPool3d AvgPool1d AvgPool2d AvgPool3d LPPool1d LPPool2d
    AdaptiveAvgPool1d AdaptiveAvgPool2d AdaptiveAvgPool3d AdaptiveMaxPool1d AdaptiveMaxPool2d
    AdaptiveMaxPool3d MaxUnpool1d MaxUnpool2d MaxUnpool3d FractionalMaxPool2d FractionalMaxPool3d
    ConstantPad1d ConstantPad2d ConstantPad3d ReflectionPad1d ReflectionPad2d ReflectionPad3d
    ReplicationPad1d ReplicationPad2d ReplicationPad3d ZeroPad1d ZeroPad2d ZeroPad3d CircularPad1d
    CircularPad2d CircularPad3d Upsample UpsamplingNearest2d UpsamplingBilinear2d PixelShuffle PixelUnshuffle
    ChannelShuffle CosineSimilarity PairwiseDistance
    """
)
"""Classes of `torch.nn` without parameters of their own: what they give is where their input was."""
WEIGHTS_UNLESS = {
    "LayerNorm": {"elementwise_affine": True},
    "RMSNorm": {"elementwise_affine": True},
    "GroupNorm": {"affine": True},
    **{f"BatchNorm{n}d": {"affine": True, "track_running_stats": True} for n in (1, 2, 3)},
    **{f"InstanceNorm{n}d": {"affine": False, "track_running_stats": False} for n in (1, 2, 3)},
}
"""By class of `torch.nn`, the options, with their defaults, without any of which it has no parameters."""
UNREAD = {
    "torch.nn.MultiheadAttention": (
        "attn_mask",
        {"is_causal": True, "need_weights": False},
        "key_padding_mask",
    )
}
"""By class, an argument that is not read where these are given and the last is not.

`torch.nn.functional.multi_head_attention_forward` drops the mask then, as the hint says what is in it.
"""
WITHOUT_WEIGHTS = "torch.nn.Identity"
"""What a layer is as good as, as to devices, that is told to have no parameters."""
MEASURES = words("size dim ndimension numel nelement is_pinned select squeeze_ transpose")
"""Methods that nothing but a tensor, or something of its shape, has."""
VARIADIC_SIZE = "*size"
"""How signatures begin that take a size as one argument or as many."""
TAKES_NUMBERS = words(
    """
    dim dims dim0 dim1 start_dim end_dim axis keepdim size output_size shape normalized_shape pad padding
    output_padding kernel_size stride dilation groups num_groups num_classes chunks split_size
    split_size_or_sections shifts diagonal start length scale_factor upscale_factor downscale_factor n_fft
    hop_length win_length
    """
)
"""Parameters of torch's operations that take numbers: what is given there meets nothing."""
LIMITS = words("start end step steps low high size n m row col window_length")
"""Parameters of torch's factories that take numbers, or a size."""
NO_DEVICES = frozenset({"", "-1", "none"})
"""Texts that an option has where it lists no device."""
NO_DATA = "meta"
"""The device whose tensors hold nothing."""
FACTORIES = words(
    """
    zeros ones empty empty_permuted empty_strided full rand randn randint randperm arange linspace logspace
    eye tensor scalar_tensor as_tensor asarray from_numpy from_file frombuffer normal
    tril_indices triu_indices bartlett_window blackman_window hann_window hamming_window kaiser_window
    get_rng_state sparse_bsc_tensor sparse_csc_tensor sparse_bsr_tensor sparse_csr_tensor
    sparse_compressed_tensor sparse_coo_tensor generate_square_subsequent_mask
    """
)
"""Functions that make tensors where nothing but an argument says, by the last part of their names; no types
that can be called, and not `range`."""
FILLS = words("fill_ copy_ set_ requires_grad_ detach_ retain_grad_ resize_ apply_ map_ normal_ uniform_")
"""Methods that change a tensor in place and take what they are given from anywhere."""
TAKES_INDEX = words(
    """
    gather index_add index_add_ index_copy index_copy_ index_fill index_fill_ index_reduce index_reduce_
    index_select masked_fill masked_fill_ masked_scatter masked_scatter_ masked_select put_ scatter scatter_
    scatter_add scatter_add_ scatter_reduce scatter_reduce_ take take_along_dim
    """
)
"""Functions and methods of tensors whose index or mask is a tensor, and no number."""
INDICES = words("index indices mask")
"""What they call it."""
GROUPS = words("param_groups")
"""Where an optimizer has its parameters, in dicts."""
OPTIMIZED = "params"
"""The item of such a dict that holds them."""
TAKE_COUNTS = words(
    "range arange linspace logspace zeros ones empty full eye rand randn randint randperm trange"
)
"""Functions that are given numbers, by whatever module."""
COUNTS_OF_BATCHES = words(
    """
    num_graphs num_nodes num_edges num_node_features num_edge_features num_features num_classes batch_size
    """
)
"""Attributes of batches and graphs that are numbers, by PyTorch Geometric's usage."""
NUMBER_ATTRIBUTES = words("shape ndim requires_grad is_leaf nbytes itemsize names layout")
"""Tensor attributes that are no tensor."""
DTYPES = frozenset(f"torch.{name}" for name in names.DTYPES)
PLACEMENT_ATTRIBUTES = {"device": "device", "is_cuda": "flag", "dtype": "dtype"}
"""What an attribute of a tensor says about it: where it is, whether that is CUDA, or its dtype."""
DEVICE_TYPE = frozenset({"type"})
WRAPPED_MODULE = frozenset({"module"})
"""What DataParallel and its like call the module inside."""
MODULE_PARAMETERS = names.MODULE_PARTS
LOADER_ATTRIBUTES = names.LOADER_ONLY
TRANSPOSED = frozenset({"T", "H", "mT", "mH"})
"""Attributes of tensors that are the same tensor with its dimensions in another order."""
TENSOR_VIEWS = frozenset({"mT", "mH"})
"""Attributes, no methods, that only tensors have."""
NO_LAYER = words("eq ne lt le gt ge mm bmm mv view permute reshape")
"""Methods of tensors that may be given tensors, or sizes, and that nobody would name a layer after."""
LAYER_NAMES = frozenset({"log_softmax"})
"""Methods of tensors of several words that a layer may well be called."""
AXES = frozenset({"dim", "dims", "dim0", "dim1", "keepdim", "start_dim", "end_dim", "axis"})
"""Keywords of tensors' methods that layers are not called with."""
LIST_TOO = frozenset({"sort"})
"""Methods that lists have as well, which take no positions."""
ORDERS = frozenset({"dim", "stable", "descending"})
"""Keywords of a tensor's `sort` that a list's does not take."""
LEAF = frozenset({"grad", "is_leaf", "requires_grad", "requires_grad_"})
"""What speaks of a tensor's own gradient, which a moved copy has not."""
GRADIENT = frozenset({"grad"})
"""What a tensor has that is a leaf, and a copy of it has not."""
IMPORTS_BY_NAME = "import_module"
"""The function that imports a module whose name is a value."""
KEEPS_ITS_OWN = words(
    "_apply to cuda cpu parameters named_parameters modules named_modules children named_children state_dict"
)
"""Methods with which a class moves, trains or saves what it has in its own way."""
ASKS_PLACE = words("device is_cuda is_mps is_cpu get_device type cuda to cpu type_as device_type")
"""Attributes and methods of a tensor that ask where it is, or take another there."""
LOOKS_AT = words("len isinstance hasattr getattr int max min any all bool size dim numel get keys shape ndim")
"""What conditions call to learn of sizes, and whether something is there."""
RECORD = "record"
"""The topic of classes that keep what they are made with."""
ASKS_ATTRIBUTE = frozenset({"getattr", "hasattr"})
"""Builtins that ask an object for an attribute that it may lack."""
REGISTERS_KERNELS = words("custom_op impl register_kernel triton_op")
"""Decorators of what runs for tensors of the kinds of devices that they are told, and for no others."""
OTHER_LANGUAGES = words("triton numba tilelang warp")
"""Packages that compile functions for a device, which have values of their own there, and no tensors."""
COMPILES = words("jit njit vectorize guvectorize autotune heuristics kernel")
"""Their decorators."""
TELLS_ELEMENTS = words("len size shape numel nelement")
"""What says how many elements something has, or rows."""
ASKS_KIND = words("isinstance hasattr is_tensor")
"""Functions that ask whether their first argument is a tensor, or has what tensors have."""
ASKS_TYPE = "type"
"""What gives the class of its argument, to be compared with another."""
LEAVES_OPEN = words("NotImplementedError abstractmethod")
"""What a method raises, or is decorated with, that derived classes are to implement."""
UNBINDS = words("staticmethod classmethod property abstractmethod")
"""Decorators of what is no method that runs a module."""
SPREADS = words("auto balanced balanced_low_0 sequential")
"""What `device_map` may be for a model to go to the devices that are there."""
TRANSFORMS_BESIDE = {"load": 1, "create_model_and_transforms": 2, "create_model_from_pretrained": 1}
"""What gives a model and transforms for its inputs, with how many of those."""
BRINGS_INPUTS = words("device quantization_config load_in_8bit load_in_4bit")
"""Options of `from_pretrained` with which a model may bring what it is given to where it is, or that are not
its own."""
MODULE_INTERNALS = words("_modules _parameters _buffers __dict__ exec")
"""What a class that registers its parts in its own way speaks of."""
ASSIGNS_BY_NAME = words("setattr __dict__ vars")
"""What assigns an attribute whose name is a value."""
READS_OPTIONS = words("parse_args parse_known_args")
"""Methods of parsers of the command line: what they give is no tensor and no module."""
AFTER_FIELDS = "__post_init__"
"""The method that a dataclass runs when it has taken its fields."""
ENTERS = words("enter_context enter_async_context")
"""Methods that enter a context, which whoever has it leaves: `contextlib.ExitStack`."""
INTERCEPTS = words("__torch_function__ __torch_dispatch__")
"""Methods of contexts, and of kinds of tensors, that torch calls in place of its functions."""
CONSTRUCTS = words("__init__ __post_init__")
"""Methods that make an object."""
LOOKS_INSIDE = words("vars __dict__ getattr setattr dir __getattr__ exec")
"""How a class reaches its attributes by other ways than their names."""
ITERATES = words("enumerate zip len reversed isinstance iter")
"""Builtins that change nothing of what they are given."""
ASKS_FOR_KIND = words("isinstance hasattr type")
"""Builtins that are asked what an object is."""
REACHES_PARTS = words(
    "apply _apply parameters named_parameters modules children named_modules named_children"
)
"""Methods that lead to what a module consists of: that may be moved one by one."""
RUNS_MODULE = "Module.__call__"
HOLDS_MODULES = "holds-modules"
"""The topic of modules that are made of others: `nn.Sequential`, `nn.ModuleList`."""
LOSS_WEIGHTS = frozenset({"weight", "pos_weight"})
"""What a loss of torch's keeps, and moves, of what it is made with."""
ENCODED_AS, AS_TORCH = "return_tensors", frozenset({"pt"})
"""What tokenizers and processors of transformers are told, to give tensors of torch's."""
ENCODES_ONE = frozenset({"encode", "apply_chat_template"})
"""Their methods that give one tensor; of the others it is a mapping."""
AS_MAPPING = "return_dict"
"""What those are told to give a mapping all the same."""
OF_ENCODERS = "transformers."
OF_ENCODING = words("data encodings is_fast n_sequences")
"""Attributes of such a mapping that are none of its items."""
GRAPHS = "graph"
"""The topic of PyG's classes of one graph, or of several in one."""
OF_GRAPHS = words(
    """x edge_index edge_attr edge_weight edge_type node_type y pos norm face z batch ptr adj_t
    train_mask val_mask test_mask edge_label edge_label_index n_id e_id"""
)
"""Attributes of PyG's graphs that are tensors."""
FEATURES_OF_GRAPHS = words("ndata edata srcdata dstdata")
"""Attributes of DGL's graphs that hold tensors by name, all of them where the graph is."""
CHANGES_GRAPH = words("apply apply_ update from_dict")
"""Methods of theirs that put in the place of all tensors what a function makes of them, or others."""
COUNTS = "num_"
"""How those of its attributes begin that are numbers."""
EDGES_OF_GRAPH = ("data", "data_dict")
"""Parameters of DGL's functions that make graphs, for what may be tensors."""
TRANSFORMS_GRAPHS = ("transform", "pre_transform")
"""What its datasets are told to do with each graph."""
OF_TORCH = "torch."
LIBRARIES = words("torch torchvision torchaudio transformers numpy")
"""Names of libraries that nobody gives to anything else."""
RETAINS_GRADIENT = frozenset({"retain_grad"})
ONLY_MOVES = frozenset({"device", "non_blocking"})
"""Keywords of a move that changes nothing but the device."""
TYPING_ONLY = frozenset({"TYPE_CHECKING"})
TENSOR_DATA = frozenset({"data"})
LIKELY_TENSOR = frozenset({"is_pinned", "size", "dim", "split", "select", "squeeze_", "transpose"})
"""Methods that tensors share with few other things that have a `.to`."""
SAME_OBJECT = frozenset(
    "eval train requires_grad_ clone detach contiguous pin_memory share_memory compile apply".split()
)
"""Methods that give the very object, or a copy beside it, whatever it is."""
INITS = "__init__"
CALLED = "__call__"
PARAMETER_CLASS = "Parameter"
CLASS_OF = words("__class__")
"""The attribute of an object that is its class."""
REPLACES_FIELDS = words("_replace")
"""The method of a named tuple that gives another one."""
COPIES_ALL = "deepcopy"
"""What makes another of an object, and of all that is in it."""
ADDS_ALL = words("extend extendleft update")
"""Methods of containers that add all of what they are given."""
RUNS_FORWARD = frozenset({"forward", "generate", "__call__"})
MERGES = "update"
"""The method by which a mapping takes what another holds."""
COUNTS, COUNTING = "update", "counts"
"""With this method a metric adds up what it is given, as when called; the topic of such metrics."""
PLACES_OTHERWISE = words("device_placement cpu move_to_device")
"""Options with which an `Accelerator`, or a `Fabric`, may move nothing, or to the cpu."""
FILLS_STATE = words("copy_ update")
"""Methods of a state dict, and of what is in it, that put something else there."""
RESTORES = frozenset({"load_state_dict"})
"""Methods, of modules, optimizers and what else has a state, that are given one."""
_STATES = words("model model_ema ema optimizer model_state optimizer_state")
OPTIMIZER_METHODS = frozenset({"load_state_dict", "state_dict", "zero_grad", "step"})
OPTIMIZER_GROUPS, PARAMETERS_OF_GROUP = "param_groups", "params"
"""What an optimizer updates: an attribute of it, and an item of what is in that."""
STEPS = frozenset({"step"})
OPTIMIZER_STATE = "state"
RENEWS_STATE = frozenset({OPTIMIZER_STATE, "load_state_dict"})
"""What is read of an optimizer to move its state, or called to replace it."""
TENSOR_TYPE = "Tensor"
OTHER_TENSORS = frozenset(
    "tensorflow tf paddle mindspore oneflow jax mxnet tinygrad megengine jittor "
    "keras cntk onnx openvino typing".split()
)
"""Libraries that have a `Tensor` of their own."""
TENSORS_OF_OTHERS = OTHER_TENSORS - {"typing", "onnx", "openvino"}
TENSOR_TYPES = frozenset({"Tensor", "LongTensor", "FloatTensor", "BoolTensor"})
"""What annotations call tensors where the import is not known."""
OPAQUE_TYPES = names.OPAQUE_ANNOTATIONS
GENERICS = {
    **dict.fromkeys(names.TRANSPARENT, "wrapper"),
    **dict.fromkeys(names.SEQUENCES, "sequence"),
    **dict.fromkeys(names.MAPPINGS, "mapping"),
    **dict.fromkeys(names.TUPLES, "tuple"),
    **dict.fromkeys(("Callable", "Type", "type", "Generator"), "opaque"),
    "Union": "union",
    "DataLoader": "loader",
}
"""What the brackets after a generic type hold."""
GPU_NAMES = frozenset({"gpu", "cuda"})
NCCL = "nccl"
METHODS_OF = {
    Kind.TENSOR: "Tensor",
    Kind.SCALAR: "Tensor",
    Kind.PARAMETER: "Tensor",
    Kind.MODULE: "Module",
    Kind.OPTIMIZER: "Optimizer",
    Kind.LOADER: "Loader",
    Kind.DEVICE: "Device",
    Kind.CONTAINER: "Container",
    Kind.STRING: "String",
    Kind.ARRAY: "Array",
    Kind.GENERATOR: "Generator",
}
"""What callees are called whose receiver has one of these kinds."""
CUDA_MODULE = "torch.cuda."
SETS_CURRENT = ("torch.cuda.set_device", "torch.cuda.device", "torch.accelerator.set_device_index")
"""What says which device is the current one."""
MAKES_DEVICE = "device"
DRAWN_FROM = ("mean", "std")
"""The parameters of `torch.normal` where it draws of tensors, which lies with those."""
DRAWN_WITH = "generator"
"""The parameter that is given what random numbers are drawn with."""
WHERE_DRAWN = (DRAWN_WITH, "device")
"""The parameters that say with what, and where, random numbers are drawn."""
ASKS_MACHINE = ("torch.cuda.is_available", "torch.accelerator.is_available")
"""What a program asks that means to run where no accelerator is, too."""
CONSTANTS = frozenset(
    f"{package}.{name}"
    for package in ("math", "numpy", "torch")
    for name in ("pi", "e", "inf", "nan", "tau", "euler_gamma")
)
"""Names of modules that are plain numbers: https://numpy.org/doc/stable/reference/constants.html."""

BY_DEFAULT = "default"
"""The parameter of what declares an option that is what it is for who does not say."""

SAYS_DEVICE = "says-device"
"""The topic of classes of modules whose `device` is the default one until they are moved:
https://lightning.ai/docs/pytorch/stable/accelerators/accelerator_prepare.html."""

ASKS_ACCELERATOR = "asks-accelerator"
"""The topic of what is true, or not zero, where an accelerator is there and nowhere else."""

COUNTS_DEVICES = ("torch.cuda.device_count", "torch.accelerator.device_count")
"""What tells how many there are."""
CUDA_CONTEXTS = frozenset({"torch.cuda.device", "torch.cuda.stream"})
CUDA_ERRORS = names.CATCHES_CUDA
EXITS = frozenset("exit quit _exit abort skip skipTest fail SkipTest xfail".split())
"""Calls after which control does not go on."""
SHOWS = frozenset({"print", "summary"})
"""Functions that show what they are given, and nothing else."""
EXPECTS_FAILURE = frozenset({"raises", "suppress", "assertRaises", "assertRaisesRegex"})
IGNORES_DEFAULT = "ignores-default"
"""The topic of what is made on the cpu where no device is given, whatever the default."""
SETS_DEFAULT = ("torch.set_default_device", "torch.set_default_tensor_type")
"""What says which device is the default one."""
SETS_DEFAULT_DEVICE = re.compile(r"\bset_default_device\(|\bset_default_tensor_type\([^)\n]*cuda")
"""What a program writes after which a factory that is told no device makes its tensor elsewhere."""
MOVES_ATTRIBUTE = (
    r"(?<!\bself)\.{name}\s*=[^=\n][^\n]*\.(?:to|cuda)\("
    r"|[\"']{name}[\"'](?=(?:[^\n]*\n){{0,8}}?[^\n]*\bsetattr\([^\n]*\.(?:to|to_device|cuda)\()"
)
"""A line that moves what another object has as `name`, `net.mask = net.mask.to(device)`, or a few that do so
by its name: `for name in ("mask", "bias"): setattr(net, name, getattr(net, name).to(device))`."""
REACHES_NAMES = re.compile(
    r"\b__dict__\b|\b(?:globals|locals|vars|eval|exec|getattr|__import__|import_module|instantiate|Fire|\w*CLI"
    r"|locate|get_class|get_object|get_method|spec_from_file_location|load_source|walk_packages|iter_modules"
    r"|run_path|run_module)\("
)
"""What a program writes that may look its own functions and classes up."""
IMPORTS_MODULE = words("import_module __import__")
"""Functions that import a module whose name is a value."""
FINDS_MODULES = words("spec_from_file_location load_source walk_packages iter_modules run_path run_module")
"""Those that import or run one that they find somewhere."""
LOOKS_UP_ANY = words("instantiate Fire LightningCLI locate get_class get_object get_method")
"""Those that do, under names that are no words of the program."""
BUILTIN_LOOKS_UP_ANY = words("globals eval exec __import__")
"""Those of Python."""
LOOKS_UP = "getattr"
NAMESPACES = words("locals vars eval exec")
VARIABLES = "globals"
"""What gives the variables of a file, by their names."""
"""Functions of Python that read every variable there is."""
NAMESPACE = words("__dict__ vars")
"""Where the definitions of a module are by their names."""
PLAIN_BASES = words("object Module Enum NamedTuple Exception")
"""Bases that call no method of a subclass by its name, or only those of MODULE_HOOKS."""
MODULE_HOOKS = words("forward extra_repr reset_parameters train eval to cuda cpu")
"""What a module's own methods, or those of modules around it, call."""
TESTS_WITH = ("pytest", "unittest")
TEST_FRAMEWORKS = ("pytest", "unittest", "torch.testing", "hypothesis")
COLLECTED = "test_"
"""What the names of functions begin with that test frameworks collect."""
FIXTURES = frozenset({"fixture"})
LEAVES_GENERATORS = words("staticmethod classmethod no_grad inference_mode enable_grad override")
"""Decorators after which what yields gives an iterator still, and no context or fixture."""
MODULE_NAME = frozenset({"__name__"})
"""What tells whether a file is run by itself."""
ARGUMENTS = words("argv")
"""Attributes by which a program reads what its user says."""
ARGUMENT_PARSERS = words(
    "argparse click typer fire absl hydra tyro docopt jsonargparse simple_parsing configargparse"
)
"""Libraries by which it does."""
COLLATES = frozenset({"collate_fn"})
"""What a loader calls the function that makes a batch."""
MODEL_INPUTS = words(
    """
    input_ids attention_mask token_type_ids decoder_input_ids decoder_attention_mask encoder_attention_mask
    inputs_embeds pixel_values pixel_mask input_features
    """
)
"""What models of transformers call the tensors that they take."""
MODEL_TARGETS = words("labels position_ids encoder_hidden_states")
"""What else they take, beside those, by names that others use as well."""
COLLATES_ON_CPU = "collates"
"""The topic of what makes batches of samples on the cpu."""
RUN_BY_WORKERS = COLLATES | {"worker_init_fn"}
"""The parameters of a loader that are given functions which its workers run."""
LOADS_FROM = "dataset"
"""The parameter of a loader that is given what its workers index."""
WORKERS = "num_workers"
"""The parameter of a loader that says how many workers it has."""
INDEXED = "__getitem__"
"""The method that gives one sample of a dataset."""
IN_WORKERS = frozenset({INDEXED, "__getitems__", "__iter__", "__next__"})
"""The methods of a dataset that a loader's workers call."""
MODULE_MARKS = frozenset({"pytestmark"})
CUDA = "cuda"
ASKS_CUDA = frozenset({"is_cuda"})
"""Attributes of tensors and devices that say whether they are on CUDA."""
ASKS_INDEX = "get_device"
"""The method of tensors that gives the index of their device."""
WAITS = frozenset({"synchronize", "wait", "wait_stream", "wait_event", "wait_for_everyone", "barrier"})
"""Methods and functions after which copies from a device are complete."""
UNDER_WAY = "non_blocking"
"""The parameter of a move that returns before its copy is complete."""
REACHED = words(
    "sync clock forks spawns loads touches-cuda moves moves-more places trains mover stores moved-before"
)
"""Topics that a function's callers want to know of."""
READS_CLOCK = "clock"
CLOCKS = words("time perf_counter perf_counter_ns monotonic process_time record default_timer")
"""Functions and methods, of `time`, `timeit` and of events, that say or note when it is."""
STORES = "stores"
"""The topic of what puts something into objects that it did not make itself, or calls what does."""
MOVER = "mover"
"""The topic of what has a function by default that moves what it is given."""
COLLECTIVE = "collective"
"""The topic of what a process does together with others."""
WAITS_FOR_OTHERS = "torch.distributed.barrier"
"""What only waits for them."""
SAVED_AT = "f"
"""The parameter of what saves and loads, in torch, that says at which path."""
MAPPED = "map_location"
"""The one that says where what is loaded goes."""
TRAINS_OR_SAVES = words("backward fit save state_dict savefig to_csv dump Trainer")
"""Names in files that train, or make something that lasts."""
TRAINS = "trains"
"""The topic of functions that compute gradients, and of what calls them."""
SAVED = frozenset({"saves", TRAINS})
"""Those of a function that makes checkpoints, or what goes into one."""
MOVES_SOMETHING = "moves"
"""That of a function that moves something, which a cast does not."""
MOVES_MORE = "moves-more"
"""That of one that moves more than the tensors that it has made: its object, or what it is given."""
ASSIGNS_ANY = "assigns-any"
"""That of a class of which a method assigns attributes under names that are not told."""
WEIGHTLESS = "weightless"
"""That of a module which has nothing that a move could bring anywhere."""
NAMES_DEVICES = frozenset({MOVES_SOMETHING, "places"})
MOVED_BEFORE = "moved-before"
"""The topic of functions of which a decorator may move what they are given, and what they give."""
"""Those of a function that moves something, or makes it on a device that it is told."""
NO_REDUCTION = frozenset({"none", 0})
"""What losses are given to keep that of each element; the functions of `torch` itself take a number."""
BUILTINS = frozenset(
    """
    list tuple iter enumerate zip map filter next reversed sorted len isinstance max min sum dict set getattr
    setattr hasattr super int float str bool range print type id any all abs round open vars exec
    """.split()
)
_DEVICE = re.compile(r"(cpu|cuda|mps|xpu|hpu|npu|mtia|xla|musa|ipu)(:\d+)?\Z")


@lru_cache(maxsize=1024)
def is_device_name(text: str) -> bool:
    """Whether a string is the name of a device."""
    return _DEVICE.match(text) is not None


def is_state_name(key: object) -> bool:
    """Whether checkpoints call a state in them by that name, `"model"` or `"critic_state_dict"`."""
    return isinstance(key, str) and (key in _STATES or key.endswith("state_dict"))


def is_accelerator_name(text: str) -> bool:
    """Whether a string is the name of a device that is not the cpu."""
    return is_device_name(text) and not text.startswith("cpu")


@lru_cache(maxsize=4096)
def records(name: str) -> bool:
    """Whether a callable of that name only keeps or looks at what it is given: a device places nothing."""
    return not {"records", "asserts", "inquires"}.isdisjoint(hints("callable", name))


@lru_cache(maxsize=4096)
def configures(name: str) -> bool:
    """Whether `device=` is, to a callable of that name, a setting that the user can change."""
    return "configures" in hints("callable", name)


@lru_cache(maxsize=4096)
def is_scheduler(name: str) -> bool:
    """Whether what has that name is a scheduler or a scaler, whose state holds no tensors."""
    return "scheduler" in hints("variable", name)


def imports_accelerator(name: str) -> bool:
    """Whether a module runs on an accelerator alone."""
    from . import frameworks

    first = name.split(".")[0]
    by_nature = first in frameworks.CUDA_BY_NATURE or name in frameworks.CUDA_BY_NATURE
    return by_nature or "accelerator" in hints("import", name)
