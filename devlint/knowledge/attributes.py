"""What `torch.Tensor` and `torch.nn.Module` offer, as names; read off PyTorch 2.13.0 with `dir`."""

from __future__ import annotations

TENSOR_ONLY = frozenset(
    """
    H abs abs_ absolute absolute_ acos acos_ acosh acosh_ add add_ addbmm addbmm_ addcdiv addcdiv_
    addcmul addcmul_ addmm addmm_ addmv addmv_ addr addr_ adjoint all allclose amax amin aminmax angle
    any arccos arccos_ arccosh arccosh_ arcsin arcsin_ arcsinh arcsinh_ arctan arctan2 arctan2_ arctan_
    arctanh arctanh_ argmax argmin argsort argwhere as_strided as_strided_ as_strided_scatter as_subclass
    asin asin_ asinh asinh_ atan atan2 atan2_ atan_ atanh atanh_ backward baddbmm baddbmm_ bernoulli
    bernoulli_ bincount bitwise_and bitwise_and_ bitwise_left_shift bitwise_left_shift_ bitwise_not
    bitwise_not_ bitwise_or bitwise_or_ bitwise_right_shift bitwise_right_shift_ bitwise_xor bitwise_xor_
    bmm bool broadcast_to byte cauchy_ ccol_indices cdouble ceil ceil_ cfloat chalf char cholesky
    cholesky_inverse cholesky_solve chunk clamp clamp_ clamp_max clamp_max_ clamp_min clamp_min_ clip
    clip_ col_indices conj conj_physical conj_physical_ const_data_ptr copysign copysign_ corrcoef cos
    cos_ cosh cosh_ count_nonzero cov crow_indices cummax cummin cumprod cumprod_ cumsum cumsum_ deg2rad
    deg2rad_ dense_dim dequantize det diag diag_embed diagflat diagonal diagonal_scatter diff digamma
    digamma_ dim_order div div_ divide divide_ dot dsplit eig element_size eq eq_ equal erf erf_ erfc
    erfc_ erfinv erfinv_ exp exp2 exp2_ exp_ expand expand_as expm1 expm1_ exponential_ fill_
    fill_diagonal_ fix fix_ flatten flip fliplr flipud float_power float_power_ floor floor_ floor_divide
    floor_divide_ fmax fmin fmod fmod_ frac frac_ frexp gather gcd gcd_ ge ge_ geometric_ geqrf ger
    grad_dtype greater greater_ greater_equal greater_equal_ gt gt_ hardshrink hash_tensor
    heaviside heaviside_ histc histogram hsplit hypot hypot_ i0 i0_ igamma igamma_ igammac igammac_
    index_add index_add_ index_copy index_copy_ index_fill index_fill_ index_put index_put_ index_reduce
    index_reduce_ inner int int_repr is_complex is_conj is_distributed is_floating_point is_inference
    is_ipu is_maia is_mkldnn is_mtia is_neg is_nested is_nonzero is_quantized is_same_size is_set_to
    is_shared is_signed is_sparse_csr is_vulkan is_xla isclose isfinite isinf isnan isneginf isposinf
    isreal istft item itemsize kron kthvalue lcm lcm_ ldexp ldexp_ le le_ lerp lerp_ less less_
    less_equal less_equal_ lgamma lgamma_ log10 log10_ log1p log1p_ log2 log2_ log_ log_normal_
    log_softmax logaddexp logaddexp2 logcumsumexp logdet logical_and logical_and_ logical_not
    logical_not_ logical_or logical_or_ logical_xor logical_xor_ logit logit_ logsumexp long lstsq lt lt_
    lu lu_solve mH mT map2_ masked_fill masked_fill_ masked_scatter masked_scatter_ masked_select matmul
    matrix_exp matrix_power max maximum mean median min minimum mm module_load moveaxis movedim msort mul
    mul_ multinomial multiply multiply_ mv mvlgamma mvlgamma_ nan_to_num nan_to_num_ nanmean nanmedian
    nanquantile nansum narrow narrow_copy nbytes ndimension ne ne_ neg neg_ negative negative_ nelement
    new_empty new_empty_strided new_full new_ones new_tensor new_zeros nextafter nextafter_ nonzero
    nonzero_static norm normal_ not_equal not_equal_ numel numpy orgqr ormqr outer output_nr permute
    pinverse polygamma polygamma_ positive pow pow_ prelu prod put_ q_per_channel_axis
    q_per_channel_scales q_per_channel_zero_points q_scale q_zero_point qr qscheme quantile rad2deg
    rad2deg_ random_ ravel reciprocal reciprocal_ register_hook register_post_accumulate_grad_hook
    reinforce relu relu_ remainder remainder_ renorm renorm_ repeat repeat_interleave reshape reshape_as
    resize_as resize_as_ resize_as_sparse_ resolve_conj resolve_neg retain_grad retains_grad roll rot90
    round round_ row_indices rsqrt rsqrt_ scatter scatter_ scatter_add scatter_add_ scatter_reduce
    scatter_reduce_ select_scatter sgn sgn_ short sigmoid sigmoid_ sign sign_ signbit sin sin_ sinc sinc_
    sinh sinh_ slice_inverse slice_scatter slogdet smm softmax sparse_dim sparse_mask sparse_resize_
    sparse_resize_and_clear_ split_with_sizes sqrt sqrt_ square square_ squeeze sspaddmm std stft
    storage_offset storage_type stride sub sub_ subtract subtract_ sum sum_to_size svd swapaxes swapaxes_
    swapdims swapdims_ symeig t t_ take_along_dim tan tan_ tanh tanh_ tensor_split tile to_mkldnn
    to_padded_tensor to_sparse_bsc to_sparse_bsr to_sparse_coo to_sparse_csc to_sparse_csr tolist topk
    transpose transpose_ triangular_solve tril tril_ triu triu_ true_divide true_divide_ trunc trunc_
    type_as unbind unflatten unfold uniform_ unique_consecutive unsafe_chunk unsafe_split
    unsafe_split_with_sizes unsqueeze unsqueeze_ var vdot view view_as volatile vsplit where xlogy xlogy_
    zero_
    """.split()
)
"""Attributes that a tensor has and no module or look-alike with a `.to` of its own is known to have."""

TENSOR_TOO = frozenset(
    """
    T apply_ bfloat16 clone coalesce contiguous copy_ cpu cross cuda data data_ptr detach detach_ device
    dim dist double dtype float get_device grad grad_fn half imag index index_select indices inverse ipu
    is_coalesced is_contiguous is_cpu is_cuda is_leaf is_meta is_mps is_pinned is_sparse is_xpu layout
    log map_ mode mtia name ndim new pin_memory put real record_stream requires_grad requires_grad_
    resize resize_ select set_ shape share_memory_ size solve sort split squeeze_ storage take to
    to_dense to_sparse trace type unique untyped_storage values xpu
    """.split()
)
"""Attributes that a tensor shares with modules, batches, graphs, boxes, loaders or loggers: no evidence."""

MODULE_ONLY = frozenset(
    """
    T_destination add_module apply buffers call_super_init children compile dump_patches eval extra_repr
    forward get_buffer get_extra_state get_parameter get_submodule load_state_dict modules named_buffers
    named_children named_modules named_parameters parameters register_backward_hook register_buffer
    register_forward_hook register_forward_pre_hook register_full_backward_hook
    register_full_backward_pre_hook register_load_state_dict_post_hook register_load_state_dict_pre_hook
    register_module register_parameter register_state_dict_post_hook register_state_dict_pre_hook
    set_extra_state set_submodule share_memory state_dict to_empty train zero_grad
    """.split()
)
"""Attributes that a module has and a tensor has not."""

MODES = frozenset({"train", "eval"})
"""Those that are called so elsewhere too, and no methods there: the parts of a dataset."""
