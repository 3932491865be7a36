"""`torch.nn`: classes of modules, functions of tensors, losses, and what wraps or changes a module.

`torch.nn.CTCLoss` makes the module, `torch.nn.CTCLoss.forward` is what calling it does; most modules have
no row for that: their arguments meet their parameters.
"""

from __future__ import annotations

from .row import Row
from .table import Table

_LOSS = frozenset({"loss"})
_WRAPS = frozenset({"wraps"})

TABLES = (
    Table(
        "torch.nn.",
        Row("module", "device", devices=("device",), by="modules.make"),
        """
    AdaptiveLogSoftmaxWithLoss(in_features, n_classes, cutoffs, div_value, head_bias, device, dtype)
    BatchNorm1d BatchNorm2d BatchNorm3d InstanceNorm1d InstanceNorm2d InstanceNorm3d(num_features, eps,
            momentum, affine, track_running_stats, device, dtype, *, bias)
    Bilinear(in1_features, in2_features, out_features, bias, device, dtype)
    Conv1d Conv2d Conv3d(in_channels, out_channels, kernel_size, stride, padding, dilation, groups,
            bias, padding_mode, device, dtype)
    ConvTranspose1d ConvTranspose2d ConvTranspose3d(in_channels, out_channels, kernel_size, stride,
            padding, output_padding, groups, bias, dilation, padding_mode, device, dtype)
    Embedding(num_embeddings, embedding_dim, padding_idx, max_norm, norm_type, scale_grad_by_freq,
            sparse, device, dtype)
    EmbeddingBag(num_embeddings, embedding_dim, max_norm, norm_type, scale_grad_by_freq, mode, sparse,
            include_last_offset, padding_idx, device, dtype)
    GRU(input_size, hidden_size, num_layers, bias, batch_first, dropout, bidirectional, device, dtype)
    GRUCell LSTMCell(input_size, hidden_size, bias, device, dtype)
    GroupNorm(num_groups, num_channels, eps, affine, device, dtype, *, bias)
    LSTM(input_size, hidden_size, num_layers, bias, batch_first, dropout, bidirectional, proj_size,
            device, dtype)
    LayerNorm(normalized_shape, eps, elementwise_affine, bias, device, dtype)
    LazyBatchNorm1d LazyBatchNorm2d LazyBatchNorm3d LazyInstanceNorm1d LazyInstanceNorm2d
    LazyInstanceNorm3d(eps, momentum, affine, track_running_stats, device, dtype, *, bias)
    LazyConv1d LazyConv2d LazyConv3d(out_channels, kernel_size, stride, padding, dilation, groups, bias,
            padding_mode, device, dtype)
    LazyConvTranspose1d LazyConvTranspose2d LazyConvTranspose3d(out_channels, kernel_size, stride,
            padding, output_padding, groups, bias, dilation, padding_mode, device, dtype)
    LazyLinear(out_features, bias, device, dtype)
    Linear(in_features, out_features, bias, device, dtype)
    MultiheadAttention(embed_dim, num_heads, dropout, bias, add_bias_kv, add_zero_attn, kdim, vdim,
            batch_first, device, dtype)
    PReLU(num_parameters, init, device, dtype)
    RMSNorm(normalized_shape, eps, elementwise_affine, device, dtype)
    RNN(input_size, hidden_size, num_layers, nonlinearity, bias, batch_first, dropout, bidirectional,
            device, dtype)
    RNNBase(mode, input_size, hidden_size, num_layers, bias, batch_first, dropout, bidirectional,
            proj_size, device, dtype)
    RNNCell(input_size, hidden_size, bias, nonlinearity, device, dtype)
    RNNCellBase(input_size, hidden_size, bias, num_chunks, device, dtype)
    SyncBatchNorm(num_features, eps, momentum, affine, track_running_stats, process_group, device,
            dtype, *, bias)
    Transformer(d_model, nhead, num_encoder_layers, num_decoder_layers, dim_feedforward, dropout,
            activation, custom_encoder, custom_decoder, layer_norm_eps, batch_first, norm_first, bias,
            device, dtype)
    TransformerDecoderLayer TransformerEncoderLayer(d_model, nhead, dim_feedforward, dropout,
            activation, layer_norm_eps, batch_first, norm_first, bias, device, dtype)
    """,
    ),
    Table(
        "torch.nn.",
        Row("module", "cpu", by="modules.make"),
        """
    AdaptiveAvgPool1d AdaptiveAvgPool2d AdaptiveAvgPool3d(output_size)
    AdaptiveMaxPool1d AdaptiveMaxPool2d AdaptiveMaxPool3d(output_size, return_indices)
    AlphaDropout Dropout Dropout1d Dropout2d Dropout3d FeatureAlphaDropout(p, inplace)
    AvgPool1d(kernel_size, stride, padding, ceil_mode, count_include_pad)
    AvgPool2d AvgPool3d(kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override)
    CELU ELU(alpha, inplace)
    ChannelShuffle(groups)
    CircularPad1d CircularPad2d CircularPad3d ReflectionPad1d ReflectionPad2d ReflectionPad3d
    ReplicationPad1d ReplicationPad2d ReplicationPad3d ZeroPad1d ZeroPad2d ZeroPad3d(padding)
    ConstantPad1d ConstantPad2d ConstantPad3d(padding, value)
    CosineSimilarity(dim, eps)
    CrossMapLRN2d LocalResponseNorm(size, alpha, beta, k)
    Flatten(start_dim, end_dim)
    Fold(output_size, kernel_size, dilation, padding, stride)
    FractionalMaxPool2d FractionalMaxPool3d(kernel_size, output_size, output_ratio, return_indices)
    GELU(approximate)
    GLU LogSoftmax Softmax Softmin(dim)
    Hardshrink Softshrink(lambd)
    Hardsigmoid Hardswish Mish ReLU ReLU6 SELU SiLU(inplace)
    Hardtanh(min_val, max_val, inplace, min_value, max_value)
    Identity(*args)
    LPPool1d LPPool2d LPPool3d(norm_type, kernel_size, stride, ceil_mode)
    LeakyReLU(negative_slope, inplace)
    LogSigmoid Sigmoid Softmax2d Softsign Tanh Tanhshrink()
    MaxPool1d MaxPool2d MaxPool3d(kernel_size, stride, padding, dilation, return_indices, ceil_mode)
    MaxUnpool1d MaxUnpool2d MaxUnpool3d(kernel_size, stride, padding)
    PairwiseDistance(p, eps, keepdim)
    PixelShuffle(upscale_factor)
    PixelUnshuffle(downscale_factor)
    RReLU(lower, upper, inplace)
    Softplus(beta, threshold)
    Threshold(threshold, value, inplace)
    TransformerDecoder(decoder_layer, num_layers, norm)
    TransformerEncoder(encoder_layer, num_layers, norm, enable_nested_tensor, mask_check)
    Unflatten(dim, unflattened_size)
    Unfold(kernel_size, dilation, padding, stride)
    Upsample(size, scale_factor, mode, align_corners, recompute_scale_factor)
    UpsamplingBilinear2d UpsamplingNearest2d(size, scale_factor)
    """,
    ),
    Table(
        "torch.nn.",
        Row("module", "first", topics=frozenset({"holds-modules"}), by="modules.make"),
        """
    Sequential(*args)
    ModuleList ModuleDict(modules)
    ParameterList(values)
    ParameterDict(parameters)
    """,
    ),
    Table(
        "torch.nn.",
        Row("module", "cpu", topics=_LOSS, by="modules.make"),
        """
    BCELoss MultiLabelSoftMarginLoss(weight, size_average, reduce, reduction)
    BCEWithLogitsLoss(weight, size_average, reduce, reduction, pos_weight)
    CTCLoss(blank, reduction, zero_infinity)
    CosineEmbeddingLoss HingeEmbeddingLoss MarginRankingLoss(margin, size_average, reduce, reduction)
    CrossEntropyLoss(weight, size_average, ignore_index, reduce, reduction, label_smoothing)
    GaussianNLLLoss(*, eps, full, reduction)
    HuberLoss(reduction, delta)
    KLDivLoss(size_average, reduce, reduction, log_target)
    L1Loss MSELoss MultiLabelMarginLoss SoftMarginLoss(size_average, reduce, reduction)
    LinearCrossEntropyLoss(in_features, num_classes, *, bias, device, dtype, ignore_index,
            label_smoothing, options, out_features, reduction, weight): place=device devices=device
    MultiMarginLoss(p, margin, weight, size_average, reduce, reduction)
    NLLLoss NLLLoss2d(weight, size_average, ignore_index, reduce, reduction)
    PoissonNLLLoss(log_input, full, size_average, eps, reduce, reduction)
    SmoothL1Loss(size_average, reduce, reduction, beta)
    TripletMarginLoss(margin, p, eps, swap, size_average, reduce, reduction)
    TripletMarginWithDistanceLoss(*, distance_function, margin, reduction, swap)
    """,
    ),
    Table(
        "torch.nn.",
        Row("parameter", "first", by="modules.parameter"),
        """
    Parameter(data, requires_grad)
    UninitializedParameter(requires_grad, device, dtype): place=device devices=device
    """,
    ),
    Table(
        "torch.nn.",
        Row("tensor", "first", by="modules.parameter", topics=frozenset({"buffer"})),
        """
    Buffer(data, *, persistent)
    UninitializedBuffer(requires_grad, device, dtype, persistent): place=device devices=device
    """,
    ),
    Table(
        "torch.nn.",
        Row("first", "first", topics=_WRAPS, by="modules.wrap"),
        """
    SyncBatchNorm.convert_sync_batchnorm(module, process_group)
    utils.weight_norm(module, name, dim)
    utils.spectral_norm(module, name, n_power_iterations, eps, dim)
    utils.remove_weight_norm utils.remove_spectral_norm(module, name)
    utils.fuse_conv_bn_eval(conv, bn, transpose): gives=module
    utils.fuse_linear_bn_eval(linear, bn): gives=module
    utils.convert_conv2d_weight_memory_format utils.convert_conv3d_weight_memory_format(module,
            memory_format)
    utils.parametrizations.orthogonal(module, name, orthogonal_map, *, use_trivialization)
    utils.parametrizations.spectral_norm(module, name, n_power_iterations, eps, dim)
    utils.parametrizations.weight_norm(module, name, dim)
    utils.parametrize.register_parametrization(module, tensor_name, parametrization, *, unsafe)
    utils.parametrize.remove_parametrizations(module, tensor_name, leave_parametrized)
    utils.prune.identity(module, name)
    utils.prune.l1_unstructured(module, name, amount, importance_scores)
    utils.prune.random_unstructured(module, name, amount)
    utils.prune.remove(module, name)
    """,
    ),
    Table(
        "torch.nn.parallel.",
        Row("module", "first", topics=frozenset({"wraps", "scatters"}), by="modules.scatter"),
        """
    DataParallel(module, device_ids, output_device, dim): devices=device_ids,output_device
            topics=always-scatters
    DistributedDataParallel(module, device_ids, output_device, dim, broadcast_buffers, init_sync,
            process_group, bucket_cap_mb, find_unused_parameters, check_reduction,
            gradient_as_bucket_view, static_graph, delay_all_reduce_named_params,
            param_to_hook_all_reduce, mixed_precision, device_mesh,
            skip_all_reduce_unused_params, bucket_cap_mb_list, batched_grad_copy,
            forward_sync_buffers): devices=device_ids,output_device
    data_parallel(module, inputs, device_ids, output_device, dim,
            module_kwargs): gives=tensor place=device devices=output_device,device_ids by=
    gather(outputs, target_device, dim): gives=tensor place=device devices=target_device by=
    scatter(inputs, target_gpus, dim): gives=tensor place=unknown devices=target_gpus by=
    replicate(network, devices, detach): gives=container place=unknown devices=devices by=
    parallel_apply(modules, inputs, kwargs_tup, devices): gives=container place=unknown devices=devices by=
    """,
    ),
    Table(
        "torch.distributed.fsdp.",
        Row("module", "unknown", topics=frozenset({"wraps", "shards"}), by="modules.shard"),
        """
    FullyShardedDataParallel(module, process_group, sharding_strategy, cpu_offload, auto_wrap_policy,
            backward_prefetch, mixed_precision, ignored_modules, param_init_fn, device_id,
            sync_module_states, forward_prefetch, limit_all_gathers, use_orig_params, ignored_states,
            device_mesh): devices=device_id
    fully_shard(module, *, dp_mesh_dims, ignored_params, mesh, mp_policy, offload_policy,
            reshard_after_forward, shard_placement_fn): gives=first
    """,
    ),
    Table(
        "torch.nn.utils.rnn.",
        Row("unknown"),
        """
    pack_padded_sequence(input, lengths, batch_first, enforce_sorted): gives=unknown place=first host=lengths
            by=sequences.pack
    pack_sequence(sequences, enforce_sorted): place=operands by=sequences.pack
    pad_packed_sequence(sequence, batch_first, padding_value, total_length): gives=container
            by=sequences.pad_packed
    pad_sequence(sequences, batch_first, padding_value, padding_side): gives=tensor place=operands
            by=operations.sequence
    unpack_sequence(packed_sequences): gives=tensor place=first topics=several
    unpad_sequence(padded_sequences, lengths, batch_first): gives=tensor place=first host=lengths
            topics=several
    """,
    ),
    Table(
        "torch.nn.utils.",
        Row("None"),
        """
    clip_grad_norm_(parameters, max_norm, norm_type, error_if_nonfinite, foreach): gives=0-dim place=first
            topics=clips
    clip_grad_value_(parameters, clip_value, foreach): topics=clips
    clip_grads_with_norm_(parameters, max_norm, total_norm, foreach)
    get_total_norm(tensors, norm_type, error_if_nonfinite, foreach): gives=0-dim place=first
    parameters_to_vector(parameters): gives=tensor place=operands
    vector_to_parameters(vec, parameters)
    skip_init(module_cls, *args, device): gives=module place=device devices=device by=modules.make
    stateless.functional_call(module, parameters_and_buffers, args, kwargs, *, strict,
            tie_weights): gives=unknown by=modules.functional
    """,
    ),
    Table(
        "torch.nn.init.",
        Row("first", "first"),
        """
    constant_(tensor, val)
    dirac_(tensor, groups)
    eye_ ones_ zeros_(tensor)
    kaiming_normal_ kaiming_uniform_(tensor, a, mode, nonlinearity, generator)
    normal_(tensor, mean, std, generator)
    orthogonal_ xavier_normal_ xavier_uniform_(tensor, gain, generator)
    sparse_(tensor, sparsity, std, generator)
    trunc_normal_(tensor, mean, std, a, b, generator)
    uniform_(tensor, a, b, generator)
    calculate_gain(nonlinearity, param): gives=number place=
    """,
    ),
    Table(
        "torch.nn.functional.",
        Row("tensor", "operands"),
        """
    adaptive_avg_pool1d(input, output_size, *, out)
    adaptive_avg_pool2d adaptive_avg_pool3d(input, output_size)
    adaptive_max_pool1d adaptive_max_pool2d adaptive_max_pool3d(input, output_size, return_indices)
    affine_grid(theta, size, align_corners)
    alpha_dropout dropout dropout1d dropout2d dropout3d feature_alpha_dropout(input, p, training, inplace)
    avg_pool1d(input, kernel_size, stride, padding, ceil_mode, count_include_pad, *, out)
    avg_pool2d avg_pool3d(input, kernel_size, stride, padding, ceil_mode, count_include_pad,
            divisor_override, *, out)
    batch_norm(input, running_mean, running_var, weight, bias, training, momentum, eps)
    bilinear(input1, input2, weight, bias)
    celu elu(input, alpha, inplace)
    channel_shuffle(input, groups, *, out)
    conv1d conv2d conv3d(input, weight, bias, stride, padding, dilation, groups)
    conv_tbc(input, weight, bias, pad, *, out)
    conv_transpose1d conv_transpose2d conv_transpose3d(input, weight, bias, stride, padding,
            output_padding, groups, dilation)
    cosine_similarity(x1, x2, dim, eps)
    embedding(input, weight, padding_idx, max_norm, norm_type, scale_grad_by_freq, sparse)
    embedding_bag(input, weight, offsets, max_norm, norm_type, scale_grad_by_freq, mode, sparse,
            per_sample_weights, include_last_offset, padding_idx)
    fold(input, output_size, kernel_size, dilation, padding, stride)
    fractional_max_pool2d fractional_max_pool3d(input, kernel_size, output_size, output_ratio,
            return_indices)
    gelu(input, *, approximate, out)
    glu(input, dim)
    grid_sample(input, grid, mode, padding_mode, align_corners)
    group_norm(input, num_groups, weight, bias, eps)
    gumbel_softmax(logits, tau, hard, eps, dim)
    hardshrink softshrink(input, lambd, *, out)
    hardsigmoid hardswish mish relu relu6 selu silu(input, inplace)
    hardtanh(input, min_val, max_val, inplace)
    instance_norm(input, running_mean, running_var, weight, bias, use_input_stats, momentum, eps)
    interpolate(input, size, scale_factor, mode, align_corners, recompute_scale_factor, antialias): host=size
    layer_norm(input, normalized_shape, weight, bias, eps)
    leaky_relu(input, negative_slope, inplace)
    linear(input, weight, bias, *, out)
    local_response_norm(input, size, alpha, beta, k)
    log_softmax softmax softmin(input, dim, dtype)
    logsigmoid(input, *, out)
    lp_pool1d lp_pool2d lp_pool3d(input, norm_type, kernel_size, stride, ceil_mode)
    max_pool1d max_pool2d max_pool3d(input, kernel_size, stride, padding, dilation, ceil_mode,
            return_indices)
    max_unpool1d max_unpool2d max_unpool3d(input, indices, kernel_size, stride, padding, output_size)
    multi_head_attention_forward(query, key, value, embed_dim_to_check, num_heads, in_proj_weight,
            in_proj_bias, bias_k, bias_v, add_zero_attn, dropout_p, out_proj_weight, out_proj_bias,
            training, key_padding_mask, need_weights, attn_mask, use_separate_proj_weight,
            q_proj_weight, k_proj_weight, v_proj_weight, static_k, static_v, average_attn_weights,
            is_causal): topics=several host=in_proj_weight
    normalize(input, p, dim, eps, out)
    one_hot(input, num_classes)
    pad(input, pad, mode, value)
    pairwise_distance(x1, x2, p, eps, keepdim)
    pdist(input, p)
    pixel_shuffle(input, upscale_factor, *, out)
    pixel_unshuffle(input, downscale_factor, *, out)
    prelu(input, weight)
    rms_norm(input, normalized_shape, weight, eps)
    rrelu(input, lower, upper, training, inplace)
    scaled_dot_product_attention(query, key, value, attn_mask, dropout_p, is_causal, *, enable_gqa, scale)
    sigmoid softsign tanh tanhshrink(input)
    softplus(input, beta, threshold, *, out)
    threshold(input, threshold, value, inplace)
    unfold(input, kernel_size, dilation, padding, stride)
    upsample(input, size, scale_factor, mode, align_corners)
    upsample_bilinear upsample_nearest(input, size, scale_factor)
    """,
    ),
    Table(
        "torch.nn.functional.",
        Row("first", "operands"),
        """
    celu_(input, alpha)
    elu_(input, alpha, scale, input_scale)
    hardtanh_(input, min_val, max_val)
    leaky_relu_(input, negative_slope)
    relu_ selu_(input)
    rrelu_(input, lower, upper, training, generator)
    threshold_(input, threshold, value)
    """,
    ),
    Table(
        "torch.nn.functional.",
        Row("0-dim tensor", "operands", topics=_LOSS, by="losses.loss"),
        """
    binary_cross_entropy multilabel_soft_margin_loss(input, target, weight, size_average, reduce, reduction)
    binary_cross_entropy_with_logits(input, target, weight, size_average, reduce, reduction, pos_weight)
    cosine_embedding_loss margin_ranking_loss(input1, input2, target, margin, size_average, reduce,
            reduction)
    cross_entropy(input, target, weight, size_average, ignore_index, reduce, reduction, label_smoothing)
    ctc_loss(log_probs, targets, input_lengths, target_lengths, blank, reduction, zero_infinity):
            host=targets,input_lengths,target_lengths
    gaussian_nll_loss(input, target, var, full, eps, reduction)
    hinge_embedding_loss(input, target, margin, size_average, reduce, reduction)
    huber_loss(input, target, reduction, delta, weight)
    kl_div(input, target, size_average, reduce, reduction, log_target)
    l1_loss mse_loss(input, target, size_average, reduce, reduction, weight)
    linear_cross_entropy(input, linear_weight, target, *, ignore_index, label_smoothing, linear_bias,
            options, reduction, weight)
    multi_margin_loss(input, target, p, margin, weight, size_average, reduce, reduction)
    multilabel_margin_loss soft_margin_loss(input, target, size_average, reduce, reduction)
    nll_loss(input, target, weight, size_average, ignore_index, reduce, reduction)
    poisson_nll_loss(input, target, log_input, full, size_average, eps, reduce, reduction)
    smooth_l1_loss(input, target, size_average, reduce, reduction, beta)
    triplet_margin_loss(anchor, positive, negative, margin, p, eps, swap, size_average, reduce, reduction)
    triplet_margin_with_distance_loss(anchor, positive, negative, *, distance_function, margin,
            reduction, swap)
    """,
    ),
    Table(
        "torch.nn.",
        Row("0-dim tensor", "operands", topics=_LOSS, by="losses.loss"),
        """
    BCELoss.forward BCEWithLogitsLoss.forward CrossEntropyLoss.forward HingeEmbeddingLoss.forward
    HuberLoss.forward KLDivLoss.forward L1Loss.forward LinearCrossEntropyLoss.forward MSELoss.forward
    MultiLabelMarginLoss.forward MultiLabelSoftMarginLoss.forward MultiMarginLoss.forward
    NLLLoss.forward NLLLoss2d.forward SmoothL1Loss.forward SoftMarginLoss.forward(input, target)
    CTCLoss.forward(log_probs, targets, input_lengths, target_lengths):
            host=targets,input_lengths,target_lengths
    CosineEmbeddingLoss.forward MarginRankingLoss.forward(input1, input2, target)
    GaussianNLLLoss.forward(input, target, var)
    PoissonNLLLoss.forward(log_input, target)
    TripletMarginLoss.forward TripletMarginWithDistanceLoss.forward(anchor, positive, negative)
    """,
    ),
    Table(
        "torch.nn.",
        Row("tensor", "operands"),
        """
    Bilinear.forward(input1, input2)
    CosineSimilarity.forward PairwiseDistance.forward(x1, x2)
    Embedding.forward(input)
    EmbeddingBag.forward(input, offsets, per_sample_weights)
    """,
    ),
    Table(
        "torch.nn.",
        Row("container", "operands"),
        """
    AdaptiveLogSoftmaxWithLoss.forward(input_, target_)
    GRU.forward LSTM.forward LSTMCell.forward RNN.forward(input, hx)
    MultiheadAttention.forward(query, key, value, key_padding_mask, need_weights, attn_mask,
            average_attn_weights, is_causal)
    """,
    ),
)
