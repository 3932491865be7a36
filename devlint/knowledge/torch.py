"""`torch.*`: factories, operations, questions, and what sets the defaults.

Signatures are those of torch 2.13: `tests/test_knowledge.py` asks torch for them. What `ignores-default` is
on the cpu where no device is given, whatever the default. The losses here, unlike those of
`torch.nn.functional`, reduce only if asked to. `ctc_loss` moves its targets to the log-probabilities and
takes its lengths from anywhere (LossCTC.cpp). All measured by `devlint verify --knowledge`.
"""

from __future__ import annotations

from .row import Row
from .table import Table

_RANDOM = frozenset({"random"})
_SEVERAL = frozenset({"several"})
_SYNC = frozenset({"sync"})

TABLES = (
    Table(
        "torch.",
        Row("tensor", "device", devices=("device",), by="factories.factory"),
        """
    arange(start, end, step, *, device, dtype, layout, out, pin_memory, requires_grad)
    range(start, end, step, *, device, dtype, layout, out, pin_memory, requires_grad):
            topics=ignores-default
    bartlett_window blackman_window hann_window(window_length, periodic, *, device, dtype, layout,
            pin_memory, requires_grad)
    empty(*size, device, dtype, layout, memory_format, out, pin_memory, requires_grad)
    empty_permuted(size, physical_layout, *, device, dtype, layout, out, pin_memory, requires_grad)
    empty_strided(size, stride, *, device, dtype, layout, out, pin_memory, requires_grad)
    eye(n, m, *, device, dtype, layout, out, pin_memory, requires_grad)
    full(size, fill_value, *, device, dtype, layout, out, pin_memory, requires_grad)
    hamming_window(window_length, periodic, alpha, beta, *, device, dtype, layout, pin_memory,
            requires_grad)
    kaiser_window(window_length, periodic, beta, *, device, dtype, layout, pin_memory, requires_grad)
    linspace(start, end, steps, *, device, dtype, layout, out, pin_memory, requires_grad)
    logspace(start, end, steps, base, *, device, dtype, layout, out, pin_memory, requires_grad)
    ones zeros(*size, device, dtype, layout, out, pin_memory, requires_grad)
    rand randn(*size, device, dtype, generator, layout, out, pin_memory, requires_grad)
    randint(low, high, size, *, device, dtype, generator, layout, out, pin_memory, requires_grad)
    randperm(n, *, device, dtype, generator, layout, out, pin_memory, requires_grad)
    scalar_tensor(s, *, device, dtype, layout, out, pin_memory, requires_grad)
    tril_indices triu_indices(row, col, offset, *, device, dtype, layout, out, pin_memory, requires_grad)
    """,
    ),
    Table(
        "torch.nn.Transformer.",
        Row("tensor", "device", devices=("device",), by="factories.factory"),
        """
    generate_square_subsequent_mask(sz, device, dtype)
    """,
    ),
    Table(
        "torch.",
        Row("tensor", "device", devices=("device",), by="factories.from_data"),
        """
    as_tensor(data, *, device, dtype)
    asarray(obj, *, copy, device, dtype, requires_grad)
    normal(mean, std, size, *, device, dtype, generator, layout, out, pin_memory, requires_grad):
            topics=ignores-default
    tensor(data, *, device, dtype, pin_memory, requires_grad)
    """,
    ),
    # Tensors among these have to be in one place, where `device=` brings them: "Note [Ensuring sparse values
    # and indices match devices]" in torch/csrc/utils/tensor_new.cpp.
    Table(
        "torch.",
        Row("tensor", "device", devices=("device",), host=("size",), by="factories.sparse"),
        """
    sparse_bsc_tensor sparse_csc_tensor(ccol_indices, row_indices, values, size, *, check_invariants,
            device, dtype, layout, pin_memory, requires_grad)
    sparse_bsr_tensor sparse_csr_tensor(crow_indices, col_indices, values, size, *, check_invariants,
            device, dtype, layout, pin_memory, requires_grad)
    sparse_compressed_tensor(compressed_indices, plain_indices, values, size, *, check_invariants,
            device, dtype, layout, pin_memory, requires_grad)
    sparse_coo_tensor(indices, values, size, *, check_invariants, device, dtype, is_coalesced,
            pin_memory, requires_grad)
    """,
    ),
    Table(
        "torch.",
        Row("tensor", "cpu", topics=frozenset({"from-host"})),
        """
    from_file(filename, shared, size, *, device, dtype, layout, out, pin_memory, requires_grad)
    from_numpy(ndarray)
    frombuffer(buffer, *, count, dtype, offset, requires_grad)
    """,
    ),
    Table(
        "torch.",
        Row("tensor", "receiver-device", devices=("device",)),
        """
    empty_like ones_like zeros_like(input, *, device, dtype, layout, memory_format, out, pin_memory,
            requires_grad)
    from_dlpack(ext_tensor, *, copy, device)
    full_like(input, fill_value, *, device, dtype, layout, memory_format, out, pin_memory, requires_grad)
    rand_like randn_like(input, *, device, dtype, generator, layout, memory_format, pin_memory,
            requires_grad)
    randint_like(input, low, high, *, device, dtype, generator, layout, memory_format, pin_memory,
            requires_grad)
    """,
    ),
    Table(
        "torch.",
        Row("tensor", "operands"),
        """
    abs absolute acos acosh alias_copy angle arccos arccosh arcsin arcsinh arctan arctanh asin asinh
    atan atanh bitwise_not ccol_indices_copy ceil col_indices_copy conj_physical cos cosh
    crow_indices_copy deg2rad detach_copy digamma erf erfc erfinv exp exp2 expm1 fix floor frac i0
    indices_copy int_repr inverse isinf isnan isneginf isposinf lgamma log log10 log1p log2 logical_not
    msort neg negative rad2deg reciprocal relu row_indices_copy rsqrt sgn sigmoid sign signbit sin sinc
    sinh sqrt square t_copy tan tanh trunc values_copy view_as_complex_copy view_as_real_copy(input, *,
            out)
    adaptive_avg_pool1d(input, output_size, *, out)
    add sub subtract(input, other, *, alpha, out)
    addbmm(input, batch1, batch2, *, alpha, beta, out)
    addcdiv addcmul(input, tensor1, tensor2, *, out, value)
    addmm(input, mat1, mat2, out_dtype, *, alpha, beta, out)
    addmv(input, mat, vec, *, alpha, beta, out)
    addr(input, vec1, vec2, *, alpha, beta, out)
    adjoint conj corrcoef det detach fliplr flipud imag isfinite isreal logdet matrix_exp positive ravel
    real resolve_conj resolve_neg selu t view_as_complex view_as_real(input)
    alpha_dropout dropout feature_alpha_dropout feature_dropout(input, p, train)
    arctan2 atan2 bitwise_and bitwise_left_shift bitwise_or bitwise_right_shift bitwise_xor copysign eq
    floor_divide fmax fmin fmod gcd ge greater greater_equal gt hypot igamma igammac inner kron lcm
    ldexp le less less_equal logaddexp logaddexp2 logical_and logical_or logical_xor lt matmul maximum
    minimum mul multiply ne nextafter not_equal remainder true_divide xlogy(input, other, *, out)
    argsort(input, dim, descending, *, out, stable)
    as_strided(input, size, stride, storage_offset)
    as_strided_copy(input, size, stride, storage_offset, *, out)
    as_strided_scatter(input, src, size, stride, storage_offset, *, out): place=first
    avg_pool1d(input, kernel_size, stride, padding, ceil_mode, count_include_pad, *, out)
    baddbmm(input, batch1, batch2, out_dtype, *, alpha, beta, out)
    batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps, cudnn_enabled)
    bernoulli(input, p, *, generator, out)
    bilinear(input1, input2, weight, bias)
    binomial(count, prob, generator, *, out)
    bmm dsmm mm spmm(input, mat2, out_dtype, *, out)
    broadcast_to(input, size)
    bucketize(input, boundaries, *, out, out_int32, right)
    cdist(x1, x2, p, compute_mode)
    celu(input, alpha, *, out)
    channel_shuffle(input, groups, *, out)
    cholesky cholesky_inverse(input, upper, *, out)
    cholesky_solve(input, input2, upper, *, out)
    clamp clip(input, min, max, *, out)
    clamp_max(input, max, *, out)
    clamp_min(input, min, *, out)
    clone(input, *, memory_format, out)
    combinations(input, r, with_replacement)
    complex(real, imag, *, out)
    constant_pad_nd(input, pad, value, *, out)
    conv1d conv2d conv3d(input, weight, bias, stride, padding, dilation, groups)
    conv_tbc(input, weight, bias, pad, *, out)
    conv_transpose1d conv_transpose2d conv_transpose3d(input, weight, bias, stride, padding,
            output_padding, groups, dilation)
    convolution(input, weight, bias, stride, padding, dilation, transposed, output_padding, groups, *, out)
    cosine_similarity(x1, x2, dim, eps)
    cov(input, *, aweights, correction, fweights)
    cross(input, other, dim, *, out)
    cumprod cumsum(input, dim, *, dtype, out)
    cumulative_trapezoid trapezoid trapz(y, x, *, dim, dx)
    dequantize(input, *, tensors)
    diag tril triu(input, diagonal, *, out)
    diag_embed diagonal_copy(input, offset, dim1, dim2, *, out)
    diagflat(input, offset)
    diagonal(input, offset, dim1, dim2)
    diagonal_scatter(input, src, offset, dim1, dim2, *, out): place=first
    diff(input, n, dim, prepend, append, *, out)
    div divide(input, other, *, out, rounding_mode)
    embedding(weight, indices, padding_idx, scale_grad_by_freq, sparse, *, out)
    expand_copy(input, size, *, implicit, out)
    fill(input, value)
    flatten(input, start_dim, end_dim)
    flip permute_copy(input, dims, *, out)
    float_power pow(input, exponent, *, out)
    frobenius_norm logsumexp nuclear_norm(input, dim, keepdim, *, out)
    gather(input, dim, index, *, out, sparse_grad)
    ger outer(input, vec2, *, out)
    grid_sampler(input, grid, interpolation_mode, padding_mode, align_corners)
    grid_sampler_2d grid_sampler_3d(input, grid, interpolation_mode, padding_mode, align_corners, *, out)
    group_norm(input, num_groups, weight, bias, eps, cudnn_enabled)
    gru_cell rnn_relu_cell rnn_tanh_cell(input, hx, w_ih, w_hh, b_ih, b_hh)
    hardshrink(input, lambd, *, out)
    heaviside(input, values, *, out)
    histc(input, bins, min, max, *, out)
    hspmm(mat1, mat2, *, out)
    index_add(input, dim, index, source, *, alpha, out)
    index_copy(input, dim, index, source, *, out)
    index_fill(input, dim, index, value)
    index_put(input, indices, values, accumulate, *, out)
    index_reduce(input, dim, index, source, reduce, *, include_self, out)
    index_select select_copy(input, dim, index, *, out)
    instance_norm(input, weight, bias, running_mean, running_var, use_input_stats, momentum, eps,
            cudnn_enabled)
    isclose(input, other, rtol, atol, equal_nan)
    isin(elements, test_elements, *, assume_unique, element, invert, out, test_element)
    istft(input, n_fft, hop_length, win_length, window, center, normalized, onesided, length,
            return_complex)
    layer_norm(input, normalized_shape, weight, bias, eps, cudnn_enable)
    lerp(input, end, weight, *, out)
    log_softmax softmax(input, dim, dtype, *, out)
    logcumsumexp squeeze_copy unsqueeze_copy(input, dim, *, out)
    logit(input, eps, *, out)
    lu_solve(input, LU_data, LU_pivots, *, out)
    masked_fill(input, mask, value): host=value
    masked_scatter(input, mask, source, *, out)
    matrix_power(input, n, *, out)
    max_pool1d max_pool2d max_pool3d(input, kernel_size, stride, padding, dilation, ceil_mode)
    moveaxis movedim(input, source, destination)
    multinomial(input, num_samples, replacement, *, generator, out)
    mv(input, vec, *, out)
    mvlgamma(input, p, *, out)
    nan_to_num(input, nan, posinf, neginf, *, out)
    nanquantile quantile(input, q, dim, keepdim, *, interpolation, out)
    narrow(input, dim, start, length)
    narrow_copy(input, dim, start, length, *, out)
    nonzero_static(input, *, fill_value, out, size)
    orgqr(input, input2, *, out)
    ormqr(input, input2, input3, left, transpose, *, out)
    pairwise_distance(x1, x2, p, eps, keepdim)
    pdist(input, p)
    permute tile(input, dims)
    pinverse(input, rcond)
    pixel_shuffle(input, upscale_factor, *, out)
    pixel_unshuffle(input, downscale_factor, *, out)
    poisson(input, generator, *, out)
    polar(abs, angle, *, out)
    polygamma(n, input, *, out)
    prelu(input, weight)
    put(input, index, source, accumulate, *, out)
    quantize_per_channel(input, scales, zero_points, axis, dtype, *, out)
    quantize_per_tensor(input, scale, zero_point, dtype, *, scales, tensors, zero_points)
    quantize_per_tensor_dynamic(input, dtype, reduce_range, *, out)
    renorm(input, p, dim, maxnorm, *, out)
    repeat_interleave(input, repeats, dim, *, output_size)
    reshape(input, shape)
    rms_norm(input, normalized_shape, weight, eps)
    roll(input, shifts, dims, *, out)
    rot90(input, k, dims, *, out)
    round(input, *, decimals, out)
    rrelu(input, lower, upper, training, generator)
    rsub(input, other, alpha)
    scatter(input, dim, index, src, *, out, reduce, value)
    scatter_add(input, dim, index, src, *, out)
    scatter_reduce(input, dim, index, src, reduce, *, include_self, out)
    searchsorted(sorted_sequence, input, *, out, out_int32, right, side, sorter)
    select(input, dim, index): host=index
    select_scatter(input, src, dim, index, *, out): place=first
    slice_copy(input, dim, start, end, step, *, out)
    slice_scatter(input, src, dim, start, end, step, *, out): place=first
    smm(input, mat2)
    squeeze unsqueeze(input, dim)
    sspaddmm(input, mat1, mat2, *, alpha, beta, out)
    stft(input, n_fft, hop_length, win_length, window, center, pad_mode, normalized, onesided,
            return_complex, align_to_window)
    swapaxes(input, axis0, axis1)
    swapdims transpose(input, dim0, dim1)
    take(input, index, *, out)
    take_along_dim(input, indices, dim, *, out)
    tensordot(a, b, dims, out)
    threshold(input, threshold, value, *, out)
    transpose_copy(input, dim0, dim1, *, out)
    unflatten(input, dim, sizes)
    unfold_copy(input, dimension, size, step, *, out)
    unique_consecutive(input, return_inverse, return_counts, dim)
    vander(x, N, increasing)
    view_copy(input, dtype, *, out, size)
    where(condition, input, other, *, out)
    """,
    ),
    Table(
        "torch.",
        Row("tensor", "operands", topics=_SEVERAL),
        """
    adaptive_max_pool1d(input, output_size)
    aminmax(input, *, dim, keepdim, out)
    broadcast_tensors(*tensors): place=unknown
    unravel_index(indices, shape)
    chunk unsafe_chunk(input, chunks, dim)
    cummax cummin unbind_copy(input, dim, *, out)
    dsplit hsplit vsplit(input, sections, *, indices)
    embedding_bag(weight, indices, offsets, scale_grad_by_freq, mode, sparse, per_sample_weights,
            include_last_offset, padding_idx)
    frexp geqrf slogdet(input, *, out)
    gradient(input, *, dim, edge_order, spacing)
    gru lstm rnn_relu rnn_tanh(data, batch_sizes, hx, params, has_biases, num_layers, dropout, train,
            bidirectional, *, batch_first, input)
    histogram(input, bins, *, density, out, range, weight)
    histogramdd(input, bins, range, weight, density)
    kthvalue(input, k, dim, keepdim, *, out)
    lobpcg(A, k, B, X, n, iK, niter, tol, largest, method, tracker, ortho_iparams, ortho_fparams,
            ortho_bparams)
    lstm_cell(input, hx, w_ih, w_hh, b_ih, b_hh)
    lu_unpack(LU_data, LU_pivots, unpack_data, unpack_pivots, *, out)
    max_pool1d_with_indices(input, kernel_size, stride, padding, dilation, ceil_mode)
    meshgrid(*tensors, indexing)
    mode(input, dim, keepdim, *, out)
    pca_lowrank(A, q, center, niter)
    qr(input, some, *, out)
    sort(input, dim, descending, *, out, stable)
    split(tensor, split_size_or_sections, dim)
    split_copy unsafe_split(input, split_size, dim, *, out)
    split_with_sizes(input, split_sizes, dim)
    split_with_sizes_copy unsafe_split_with_sizes(input, split_sizes, dim, *, out)
    std_mean var_mean(input, dim, unbiased, keepdim, *, correction)
    svd(input, some, compute_uv, *, out)
    svd_lowrank(A, q, niter, M)
    symeig(input, eigenvectors, upper, *, out)
    tensor_split(input, indices, dim, *, sections, tensor_indices_or_sections): host=indices
    topk(input, k, dim, largest, sorted, *, out)
    triangular_solve(input, A, upper, transpose, unitriangular, *, out)
    unbind(input, dim)
    """,
    ),
    Table(
        "torch.",
        Row("tensor", "operands", by="operations.sequence"),
        """
    atleast_1d atleast_2d atleast_3d block_diag cartesian_prod(*tensors)
    cat concat concatenate stack(tensors, dim, *, out)
    chain_matmul(*matrices, out)
    column_stack dstack hstack row_stack vstack(tensors, *, out)
    einsum(*args)
    """,
    ),
    Table(
        "torch.",
        Row("tensor", "operands", topics=_SYNC),
        """
    argwhere(input)
    bincount(input, weights, minlength, *, out)
    masked_select(input, mask, *, out)
    nonzero(input, *, as_tuple, out)
    unique(input, sorted, return_inverse, return_counts, dim)
    """,
    ),
    Table(
        "torch.",
        Row("reduced", "operands"),
        """
    all amax amin any argmax argmin median nanmedian(input, dim, keepdim, *, out)
    count_nonzero(input, dim)
    max min(input, dim, keepdim, *, other, out)
    mean nanmean nansum prod sum(input, dim, keepdim, *, dtype, out)
    norm(input, p, dim, keepdim, out, dtype)
    std var(input, dim, unbiased, keepdim, *, correction, out)
    """,
    ),
    Table(
        "torch.",
        Row("0-dim tensor", "operands"),
        """
    dist(input, other, p, *, out)
    dot(input, tensor, *, out)
    trace(input, *, out)
    vdot(input, other, *, out)
    """,
    ),
    Table(
        "torch.",
        Row("tensor", "operands", by="losses.loss"),
        """
    binary_cross_entropy_with_logits(input, target, weight, pos_weight, reduction, *, out)
    cosine_embedding_loss(input1, input2, target, margin, reduction)
    ctc_loss(log_probs, targets, input_lengths, target_lengths, blank, reduction, zero_infinity):
            host=targets,input_lengths,target_lengths
    hinge_embedding_loss(input, target, margin, reduction)
    kl_div(input, target, reduction, *, log_target)
    poisson_nll_loss(input, target, log_input, full, eps, reduction)
    triplet_margin_loss(anchor, positive, negative, margin, p, eps, swap, reduction)
    """,
    ),
    Table(
        "torch.",
        Row("first", "operands"),
        """
    abs_ acos_ acosh_ arccos_ arccosh_ arcsin_ arcsinh_ arctan_ arctanh_ asin_ asinh_ atan_ atanh_ ceil_
    conj_physical_ cos_ cosh_ deg2rad_ detach_ erf_ erfc_ exp2_ exp_ expm1_ fix_ floor_ frac_ i0_ log10_
    log1p_ log2_ log_ neg_ negative_ rad2deg_ reciprocal_ relu_ rsqrt_ selu_ sigmoid_ sin_ sinc_ sinh_
    sqrt_ square_ tan_ tanh_ trunc_ zero_(input)
    addmv_(input, mat, vec, *, alpha, beta)
    alpha_dropout_ dropout_ feature_alpha_dropout_ feature_dropout_(input, p, train)
    as_strided_(input, size, stride, storage_offset)
    celu_(input, alpha)
    clamp_ clip_(input, min, max)
    clamp_max_(input, max)
    clamp_min_(input, min)
    fill_(input, value)
    gcd_ lcm_ ldexp_ xlogy_(input, other)
    index_put_(input, indices, values, accumulate)
    logit_(input, eps)
    nan_to_num_(input, nan, posinf, neginf)
    resize_as_(input, the_template, *, memory_format): place=first
    resize_as_sparse_(input, the_template): place=first
    round_(input, *, decimals)
    rrelu_(input, lower, upper, training, generator)
    threshold_(input, threshold, value)
    """,
    ),
    Table(
        "torch.",
        Row("tensor", "cpu", devices=("device",), topics=frozenset({"legacy-type"})),
        """
    Tensor(*data, device)
    """,
    ),
    # Of tensors they take those of their own type alone; one of a device raises TypeError, with 2.13.
    Table(
        "torch.",
        Row(
            "tensor",
            "cpu",
            devices=("device",),
            topics=frozenset({"legacy-type", "host-only", "keeps-items"}),
        ),
        """
    FloatTensor DoubleTensor HalfTensor BFloat16Tensor ByteTensor CharTensor ShortTensor IntTensor
    LongTensor BoolTensor(*data, device)
    """,
    ),
    Table(
        "torch.",
        Row("number"),
        """
    allclose(input, other, rtol, atol, equal_nan)
    equal(input, other)
    can_cast(from_, to)
    numel is_complex is_floating_point is_conj is_neg is_inference is_distributed is_signed(input)
    is_same_size(input, other)
    is_nonzero(input): topics=sync
    is_tensor(obj): by=objects.is_tensor
    is_storage(obj)
    is_grad_enabled is_inference_mode_enabled is_anomaly_enabled is_anomaly_check_nan_enabled()
    is_deterministic_algorithms_warn_only_enabled are_deterministic_algorithms_enabled()
    is_autocast_cpu_enabled is_autocast_cache_enabled compiled_with_cxx11_abi()
    get_num_threads get_num_interop_threads initial_seed seed()
    get_device(input)
    """,
    ),
    Table(
        "torch.",
        Row("flag", topics=frozenset({"asks-accelerator"})),
        """
    is_autocast_enabled(device_type)
    """,
    ),
    Table(
        "torch.",
        Row("device", "device", devices=("type",), by="devices.device"),
        """
    device(type, index)
    """,
    ),
    Table(
        "torch.",
        Row("device", "default"),
        """
    get_default_device()
    """,
    ),
    Table(
        "torch.",
        Row("generator", "device", devices=("device",)),
        """
    Generator(device): topics=ignores-default
    """,
    ),
    Table(
        "torch.",
        Row("generator", "cpu"),
        """
    manual_seed(seed)
    """,
    ),
    Table(
        "torch.",
        Row("None"),
        """
    save(obj, f, pickle_module, pickle_protocol): topics=saves
    set_default_device(device): devices=device by=devices.set_default
    set_default_tensor_type(t): by=devices.set_default
    set_default_dtype(d)
    set_grad_enabled(mode): gives=other
    set_rng_state(new_state)
    set_printoptions(precision, threshold, edgeitems, linewidth, profile, sci_mode)
    set_float32_matmul_precision(precision)
    use_deterministic_algorithms(mode, *, warn_only)
    """,
    ),
    Table(
        "torch.",
        Row("dtype"),
        """
    get_default_dtype()
    promote_types(type1, type2)
    result_type(tensor, other, *, scalar, scalar1, scalar2)
    get_autocast_dtype(device_type)
    """,
    ),
    Table(
        "torch.",
        Row("other"),
        """
    no_grad()
    enable_grad(orig_func)
    inference_mode(mode)
    autocast(device_type, dtype, enabled, cache_enabled): devices=device_type by=devices.autocast
    amp.autocast(device_type, dtype, enabled, cache_enabled): devices=device_type by=devices.autocast
    amp.GradScaler GradScaler(device, init_scale, growth_factor, backoff_factor, growth_interval,
            enabled): devices=device topics=configures
    amp.custom_fwd(fwd, *, cast_inputs, device_type): gives=unknown devices=device_type
    amp.custom_bwd(bwd, *, device_type): gives=unknown devices=device_type
    finfo(type)
    iinfo(type)
    broadcast_shapes(*shapes)
    Size(iterable)
    Event(device, *, blocking, enable_timing, interprocess): devices=device
    Stream(device, *, priority): devices=device
    get_device_module(device): devices=device
    get_rng_state(): gives=tensor place=cpu
    random.fork_rng(devices, enabled, device_type): devices=device_type
    profiler.profile(*, acc_events, activities, custom_trace_id_callback, execution_trace_observer,
            experimental_config, on_trace_ready, post_processing_timeout_s, profile_memory,
            record_shapes, schedule, use_cuda, with_flops, with_modules, with_stack)
    """,
    ),
    Table(
        "torch.",
        Row("string"),
        """
    typename(obj)
    """,
    ),
    Table(
        "torch.",
        Row("unknown"),
        """
    load(f, map_location, pickle_module, *, mmap, weights_only): devices=map_location topics=loads
    jit.load(f, map_location): gives=module devices=map_location by=modules.loaded topics=loads
    hub.load_state_dict_from_url(url, model_dir, map_location, progress, check_hash, file_name,
            weights_only): devices=map_location topics=loads,published
    hub.load(repo_or_dir, model, *args, force_reload, skip_validation, source, trust_repo,
            verbose): gives=module by=modules.make topics=other-library
    compile(model, *, backend, disable, dynamic, fullgraph, isolate_recompiles, mode, name, options,
            recompile_limit, shapes_spec): gives=first by=modules.wrap topics=wraps
    jit.script(obj, optimize, example_inputs): gives=first by=modules.wrap topics=wraps
    jit.trace(func, example_inputs, optimize, check_trace, check_inputs, check_tolerance, strict,
            example_kwarg_inputs): gives=first by=modules.traced topics=wraps
    jit.freeze(mod, preserved_attrs, optimize_numerics): gives=first by=modules.wrap topics=wraps
    jit.optimize_for_inference(mod, other_methods): gives=first by=modules.wrap topics=wraps
    jit.save(m, f): gives=None topics=saves
    vmap(func, in_dims, out_dims, randomness, *, chunk_size)
    func.vmap(func, in_dims, out_dims, randomness, *, chunk_size)
    func.functional_call(module, parameter_and_buffer_dicts, args, kwargs, *, strict, tie_weights):
            by=modules.functional
    cond(pred, true_fn, false_fn, operands)
    while_loop(cond_fn, body_fn, carried_inputs)
    utils.checkpoint.checkpoint(function, *args, context_fn, debug, determinism_check, early_stop,
            use_reentrant): by=functions.first
    export.export(mod, args, kwargs, *, dynamic_shapes,
            prefer_deferred_runtime_asserts_over_guards, preserve_module_call_signature, strict):
            by=modules.traced
    onnx.export(model, args, f, *, artifacts_dir, autograd_inlining, custom_opsets,
            custom_translation_table, do_constant_folding, dump_exported_program, dynamic_axes,
            dynamic_shapes, dynamo, export_modules_as_functions, export_params, external_data,
            input_names, keep_initializers_as_inputs, kwargs, operator_export_type, opset_version,
            optimize, output_names, profile, report, training, verbose, verify): by=modules.traced
    export.load(f, *, expected_opset_version, extra_files)
    """,
    ),
    Table(
        "torch.autograd.",
        Row("None"),
        """
    backward(tensors, grad_tensors, retain_graph, create_graph, grad_variables, inputs)
    grad(outputs, inputs, grad_outputs, retain_graph, create_graph, only_inputs, allow_unused,
            is_grads_batched, materialize_grads): gives=tensor place=operands topics=several
    set_detect_anomaly(mode, check_nan): gives=other
    detect_anomaly(check_nan): gives=other
    Variable(data, requires_grad, volatile): gives=tensor place=first by=tensors.variable
    """,
    ),
)
