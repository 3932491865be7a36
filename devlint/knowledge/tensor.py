"""Methods and attributes of `torch.Tensor`; parameters and 0-dim tensors have the same."""

from __future__ import annotations

from .row import Row
from .table import Table

TABLES = (
    Table(
        "Tensor.",
        Row("tensor", "device", devices=("device",), by="tensors.move"),
        """
    to(device, dtype, non_blocking, copy, *, memory_format, tensor)
    cuda xpu ipu mtia(device, non_blocking, memory_format)
    cpu(memory_format): devices= place=cpu
    """,
    ),
    Table(
        "Tensor.",
        Row("tensor", "first", topics=frozenset({"casts"}), by="tensors.cast"),
        """
    bfloat16 bool byte cdouble cfloat char double float half int long short(memory_format)
    chalf(*, memory_format)
    """,
    ),
    Table(
        "Tensor.",
        Row("tensor", "receiver-device", devices=("device",)),
        """
    new(other, *, data, device, size, storage)
    new_empty new_ones new_zeros(size, *, device, dtype, layout, pin_memory, requires_grad)
    new_empty_strided(size, stride, *, device, dtype, layout, pin_memory, requires_grad)
    new_full(size, fill_value, *, device, dtype, layout, pin_memory, requires_grad)
    new_tensor(data, *, device, dtype, layout, pin_memory, requires_grad)
    """,
    ),
    Table(
        "Tensor.",
        Row("tensor", "first"),
        """
    contiguous(*, memory_format)
    clone(*, memory_format): topics=clones
    detach()
    expand_as reshape_as view_as(other)
    pin_memory(device): topics=needs-accelerator
    register_hook register_post_accumulate_grad_hook(hook): gives=other place=
    as_subclass(cls)
    """,
    ),
    Table(
        "Tensor.",
        Row("first", "first"),
        """
    apply_(callable)
    copy_(src, non_blocking, *, other)
    detach_ share_memory_()
    map_(tensor, callable)
    requires_grad_(requires_grad): by=tensors.requires_grad
    resize_(*size, memory_format)
    resize_as_(the_template, *, memory_format)
    set_(source, storage_offset, size, stride)
    """,
    ),
    Table(
        "Tensor.",
        Row("unknown"),
        """
    type(dtype, non_blocking): gives=tensor devices=dtype by=tensors.retype
    type_as(other): gives=tensor by=tensors.retype
    backward(gradient, retain_graph, create_graph, inputs): gives=None by=tensors.backward
    is_pinned(device): gives=flag by=tensors.is_pinned topics=asks-accelerator
    get_device(): gives=number by=tensors.index
    record_stream(s): gives=None topics=needs-accelerator
    retain_grad(): gives=None
    storage untyped_storage qscheme(): gives=other
    numpy(*, force): gives=array place=cpu topics=host-only,sync
    """,
    ),
    Table(
        "Tensor.",
        Row("number"),
        """
    data_ptr dense_dim dim element_size is_coalesced is_complex is_conj is_distributed
    is_floating_point is_inference is_neg is_shared is_signed ndimension nelement numel
    q_per_channel_axis q_scale q_zero_point sparse_dim storage_offset()
    dim_order(*, ambiguity_check)
    is_contiguous(memory_format)
    is_same_size(other)
    is_set_to(tensor)
    size stride(dim)
    """,
    ),
    Table(
        "Tensor.",
        Row("number", topics=frozenset({"sync"})),
        """
    allclose(other, rtol, atol, equal_nan)
    equal(other)
    is_nonzero item()
    tolist(): gives=other
    """,
    ),
    Table(
        "Tensor.",
        Row("tensor", "operands", topics=frozenset({"sync"})),
        """
    argwhere()
    bincount(weights, minlength)
    masked_select(mask)
    nonzero(*, as_tuple)
    unique(sorted, return_inverse, return_counts, dim)
    unique_consecutive(return_inverse, return_counts, dim)
    """,
    ),
    Table(
        "Tensor.",
        Row("tensor", "operands"),
        """
    abs absolute acos acosh adjoint angle arccos arccosh arcsin arcsinh arctan arctanh asin asinh atan
    atanh bitwise_not ccol_indices ceil coalesce col_indices conj conj_physical corrcoef cos cosh
    crow_indices deg2rad dequantize det digamma erf erfc erfinv exp exp2 expm1 fix fliplr flipud floor
    frac i0 indices int_repr inverse isfinite isinf isnan isneginf isposinf isreal lgamma log log10
    log1p log2 logdet logical_not matrix_exp msort neg negative positive q_per_channel_scales
    q_per_channel_zero_points rad2deg ravel reciprocal relu resolve_conj resolve_neg row_indices rsqrt
    sgn sigmoid sign signbit sin sinc sinh sqrt square t tan tanh to_sparse_coo trunc values()
    add sub subtract(other, *, alpha)
    addbmm(batch1, batch2, *, alpha, beta)
    addcdiv addcmul(tensor1, tensor2, *, value)
    addmm(mat1, mat2, out_dtype, *, alpha, beta)
    addmv(mat, vec, *, alpha, beta)
    addr(vec1, vec2, *, alpha, beta)
    arctan2 atan2 bitwise_and bitwise_left_shift bitwise_or bitwise_right_shift bitwise_xor copysign eq
    floor_divide fmax fmin fmod gcd ge greater greater_equal gt hypot igamma igammac inner kron lcm
    ldexp le less less_equal logaddexp logaddexp2 logical_and logical_or logical_xor lt matmul maximum
    minimum mul multiply ne nextafter not_equal remainder true_divide xlogy(other)
    argsort(dim, descending, *, stable)
    as_strided(size, stride, storage_offset)
    as_strided_scatter(src, size, stride, storage_offset): place=first
    baddbmm(batch1, batch2, out_dtype, *, alpha, beta)
    bernoulli(p, *, generator)
    bmm mm(mat2, out_dtype)
    broadcast_to(size)
    cholesky cholesky_inverse(upper)
    cholesky_solve(input2, upper)
    clamp clip(min, max)
    clamp_max(max)
    clamp_min(min)
    cov(*, aweights, correction, fweights)
    cross(other, dim)
    cumprod cumsum(dim, *, dtype)
    diag tril triu(diagonal)
    diag_embed diagonal(offset, dim1, dim2)
    diagflat(offset)
    diagonal_scatter(src, offset, dim1, dim2): place=first
    diff(n, dim, prepend, append)
    div divide(other, *, rounding_mode)
    expand(*size, implicit)
    flatten(start_dim, end_dim)
    flip tile(dims)
    float_power pow(exponent)
    gather(dim, index, *, sparse_grad)
    ger outer(vec2)
    hardshrink(lambd)
    heaviside(values)
    histc(bins, min, max)
    index_add(dim, index, source, *, alpha)
    index_copy(dim, index, source)
    index_fill(dim, index, value)
    index_reduce(dim, index, source, reduce, *, include_self)
    index_select select(dim, index)
    isclose(other, rtol, atol, equal_nan)
    istft(n_fft, hop_length, win_length, window, center, normalized, onesided, length, return_complex)
    lerp(end, weight)
    log_softmax softmax(dim, dtype)
    logcumsumexp squeeze unsqueeze(dim)
    logit(eps)
    logsumexp(dim, keepdim)
    lu_solve(LU_data, LU_pivots)
    masked_fill masked_fill_(mask, value): host=value
    masked_scatter(mask, source)
    matrix_power polygamma(n)
    moveaxis movedim(source, destination)
    multinomial(num_samples, replacement, *, generator)
    mv(vec)
    mvlgamma(p)
    nan_to_num(nan, posinf, neginf)
    nanquantile quantile(q, dim, keepdim, *, interpolation)
    narrow narrow_copy(dim, start, length)
    nonzero_static(*, fill_value, size)
    orgqr(input2)
    ormqr(input2, input3, left, transpose)
    permute(*dims)
    pinverse(rcond)
    prelu(weight)
    put(input, index, source, accumulate)
    renorm(p, dim, maxnorm)
    repeat(*repeats)
    repeat_interleave(repeats, dim, *, output_size)
    reshape(*shape)
    roll(shifts, dims)
    rot90(k, dims)
    round(*, decimals)
    scatter(dim, index, src, *, reduce, value)
    scatter_add(dim, index, src)
    scatter_reduce(dim, index, src, reduce, *, include_self)
    select_scatter(src, dim, index): place=first
    slice_scatter(src, dim, start, end, step): place=first
    smm(mat2)
    sparse_mask(mask)
    sspaddmm(mat1, mat2, *, alpha, beta)
    stft(n_fft, hop_length, win_length, window, center, pad_mode, normalized, onesided, return_complex,
            align_to_window)
    sum_to_size(*size)
    swapaxes(axis0, axis1)
    swapdims transpose(dim0, dim1)
    take(index)
    take_along_dim(indices, dim)
    to_dense(dtype, *, masked_grad)
    to_mkldnn(dtype)
    to_padded_tensor(padding, output_size)
    to_sparse(sparse_dim, *, blocksize, dense_dim, layout)
    to_sparse_bsc to_sparse_bsr(blocksize, dense_dim)
    to_sparse_csc to_sparse_csr(dense_dim)
    unflatten(dim, sizes)
    unfold(dimension, size, step)
    view(*size, dtype)
    where(condition, other)
    """,
    ),
    Table(
        "Tensor.",
        Row("tensor", "operands", topics=frozenset({"several"})),
        """
    aminmax(*, dim, keepdim)
    chunk unsafe_chunk(chunks, dim)
    cummax cummin unbind(dim)
    dsplit hsplit vsplit(sections, *, indices)
    frexp geqrf slogdet()
    histogram(bins, *, density, range, weight)
    kthvalue(k, dim, keepdim)
    lu(pivot, get_infos)
    mode(dim, keepdim)
    qr(some)
    sort(dim, descending, *, stable)
    split unsafe_split(split_size, dim)
    split_with_sizes unsafe_split_with_sizes(split_sizes, dim)
    svd(some, compute_uv)
    tensor_split(indices, dim, *, sections, tensor_indices_or_sections): host=indices
    topk(k, dim, largest, sorted)
    triangular_solve(A, upper, transpose, unitriangular)
    """,
    ),
    Table(
        "Tensor.",
        Row("reduced", "operands"),
        """
    all amax amin any argmax argmin median nanmedian(dim, keepdim)
    count_nonzero(dim)
    max min(dim, keepdim, *, other)
    mean nanmean nansum prod sum(dim, keepdim, *, dtype)
    norm(p, dim, keepdim, dtype)
    std var(dim, unbiased, keepdim, *, correction)
    """,
    ),
    Table(
        "Tensor.",
        Row("0-dim tensor", "operands"),
        """
    dist(other, p)
    dot(tensor)
    trace()
    vdot(other)
    """,
    ),
    Table(
        "Tensor.",
        Row("first", "operands"),
        """
    abs_ absolute_ acos_ acosh_ arccos_ arccosh_ arcsin_ arcsinh_ arctan_ arctanh_ asin_ asinh_ atan_
    atanh_ bitwise_not_ ceil_ conj_physical_ cos_ cosh_ deg2rad_ digamma_ erf_ erfc_ erfinv_ exp2_ exp_
    expm1_ fix_ floor_ frac_ i0_ lgamma_ log10_ log1p_ log2_ log_ logical_not_ neg_ negative_ rad2deg_
    reciprocal_ relu_ rsqrt_ sgn_ sigmoid_ sign_ sin_ sinc_ sinh_ sqrt_ square_ t_ tan_ tanh_ trunc_
    zero_()
    add_ sub_ subtract_(other, *, alpha)
    addbmm_ baddbmm_(batch1, batch2, *, alpha, beta)
    addcdiv_ addcmul_(tensor1, tensor2, *, value)
    addmm_(mat1, mat2, *, alpha, beta)
    addmv_(mat, vec, *, alpha, beta)
    addr_(vec1, vec2, *, alpha, beta)
    arctan2_ atan2_ bitwise_and_ bitwise_left_shift_ bitwise_or_ bitwise_right_shift_ bitwise_xor_
    copysign_ eq_ floor_divide_ fmod_ gcd_ ge_ greater_ greater_equal_ gt_ hypot_ igamma_ igammac_ lcm_
    ldexp_ le_ less_ less_equal_ logical_and_ logical_or_ logical_xor_ lt_ mul_ multiply_ ne_ nextafter_
    not_equal_ remainder_ true_divide_ xlogy_(other)
    as_strided_(size, stride, storage_offset)
    bernoulli_ geometric_(p, *, generator)
    cauchy_(median, sigma, *, generator)
    clamp_ clip_(min, max)
    clamp_max_(max)
    clamp_min_(min)
    cumprod_ cumsum_(dim, *, dtype)
    div_ divide_(other, *, rounding_mode)
    exponential_(lambd, *, generator)
    fill_(value)
    fill_diagonal_(fill_value, wrap)
    float_power_ pow_(exponent)
    heaviside_(values)
    index_add_(dim, index, source, *, alpha)
    index_copy_(dim, index, source)
    index_fill_(dim, index, value)
    index_reduce_(dim, index, source, reduce, *, include_self)
    lerp_(end, weight)
    log_normal_ normal_(mean, std, *, generator)
    logit_(eps)
    masked_scatter_(mask, source)
    mvlgamma_(p)
    nan_to_num_(nan, posinf, neginf)
    polygamma_(n)
    put_(index, source, accumulate)
    random_ uniform_(from, to, *, generator)
    renorm_(p, dim, maxnorm)
    resize_as_sparse_(the_template)
    round_(*, decimals)
    scatter_(dim, index, src, *, reduce, value)
    scatter_add_(dim, index, src)
    scatter_reduce_(dim, index, src, reduce, *, include_self)
    sparse_resize_(size, sparse_dim, dense_dim)
    squeeze_ unsqueeze_(dim)
    swapaxes_(axis0, axis1)
    swapdims_ transpose_(dim0, dim1)
    tril_ triu_(diagonal)
    """,
    ),
    Table(
        "Tensor.",
        Row("tensor", "operands", host=("indices",)),
        """
    index_put(indices, values, accumulate)
    index_put_(indices, values, accumulate): gives=first
    """,
    ),
    Table(
        "Tensor.",
        Row("number", topics=frozenset({"sync"})),
        """
    __bool__ __int__ __float__ __index__()
    __len__(): topics=
    """,
    ),
    Table(
        "Array.",
        Row("array", "cpu"),
        """
    *()
    """,
    ),
)

ATTRIBUTES = (
    Table(
        "Tensor.",
        Row("tensor", "first"),
        """
    T H mT mH data grad real imag()
    """,
    ),
    Table(
        "Tensor.",
        Row("number"),
        """
    shape ndim requires_grad is_leaf nbytes itemsize layout name output_nr retains_grad()
    is_cpu is_meta is_sparse is_sparse_csr is_quantized is_nested is_mkldnn()
    """,
    ),
    Table(
        "Tensor.",
        Row("flag", topics=frozenset({"asks-accelerator"})),
        """
    is_cuda is_xpu is_mps is_mtia is_xla is_ipu is_maia is_vulkan()
    """,
    ),
    Table(
        "Tensor.",
        Row("other"),
        """
    grad_fn(): gives=unknown
    grad_dtype dtype(): gives=dtype
    device(): gives=device place=first
    """,
    ),
)
"""What reading an attribute gives."""
