"""Sets of names that are no calls: dtypes, device types, what types are written with."""

from __future__ import annotations

from .table import words

DTYPES = words(
    """
    bfloat16 bit bits16 bits1x8 bits2x4 bits4x2 bits8 bool cdouble cfloat chalf complex128 complex32 complex64
    double float float16 float32 float4_e2m1fn_x2 float64 float8_e4m3fn float8_e4m3fnuz float8_e5m2
    float8_e5m2fnuz float8_e8m0fnu half int int1 int16 int2 int3 int32 int4 int5 int6 int64 int7 int8 long
    qint32 qint8 quint2x4 quint4x2 quint8 short uint1 uint16 uint2 uint3 uint32 uint4 uint5 uint6 uint64
    uint7 uint8
    """
)
"""Names of `torch` that are dtypes; read off torch 2.13."""

ACCELERATOR_TYPES = words("cuda mps xpu hpu npu mtia xla musa ipu privateuseone")
"""Device types that are no cpu."""

DEVICE_PARAMETERS = words("device map_location output_device")
"""Parameters of unknown functions that take a device, by torch's own usage."""

LOADER_ONLY = words("dataset batch_sampler collate_fn num_workers")
"""Attributes that a loader has and neither a tensor nor a module has."""

MODULE_PARTS = words("weight bias in_proj_weight in_proj_bias")
"""Attributes of torch's modules that are parameters."""

TRANSPARENT = words("Optional Annotated Final ClassVar Required NotRequired")
"""Annotations that stand for their first argument."""

SEQUENCES = words(
    "List list Sequence Iterable Iterator Set set Collection Deque deque MutableSequence FrozenSet"
)
"""Annotations of containers whose only argument is what they yield."""

MAPPINGS = words("Dict dict Mapping MutableMapping OrderedDict defaultdict DefaultDict")
"""Annotations of containers whose second argument is what they hold."""

TUPLES = words("Tuple tuple")

OPAQUE_ANNOTATIONS = words("Any object T TypeVar Callable Self")
"""Annotations that say nothing."""

CATCHES_CUDA = words("RuntimeError AssertionError Exception BaseException")
"""What catching expects when CUDA is not there: torch raises AssertionError and RuntimeError (measured)."""
