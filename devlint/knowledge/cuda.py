"""Devices by library: `torch.cuda`, `xpu`, `mps`, `mtia`, `accelerator`, `backends`, `distributed`.

What `asks-accelerator` is true, or not zero, where an accelerator is there and nowhere else; what
`needs-accelerator` does not return where there is none: measured by calling it on a build of torch without
CUDA, where `elsewhere` raises for want of another package. What `needs-cuda` speaks of CUDA in particular.
`touches-cuda` makes CUDA read CUDA_VISIBLE_DEVICES for good; `is_available` does unless
PYTORCH_NVML_BASED_CUDA_CHECK is set (its docstring). `asks-build` tells what torch was built with, and what
`needs-build` raises where that is not CUDA: on macOS for one, and not for want of a GPU.
"""

from __future__ import annotations

from .row import Row
from .table import Table

_NEEDS = frozenset({"needs-cuda", "needs-accelerator", "touches-cuda"})
_ELSEWHERE = frozenset({"needs-accelerator"})
_ASKS = frozenset({"asks-accelerator"})
_CUDA = frozenset({"cuda-only"})
_ASKS_BUILD = frozenset({"asks-build"})
_COLLECTIVE = frozenset({"collective"})

TABLES = (
    Table(
        "torch.cuda.",
        Row("flag", topics=_ASKS | _CUDA),
        """
    is_available is_initialized(): topics=touches-cuda
    device_count()
    is_bf16_supported(including_emulation)
    is_tf32_supported()
    """,
    ),
    Table(
        "torch.cuda.",
        Row("other", topics=_NEEDS | _CUDA),
        """
    set_device synchronize(device): devices=device gives=None
    get_device_name(device): devices=device gives=string
    get_device_properties get_device_capability(device): devices=device
    current_stream default_stream(device): devices=device topics=current-device
    current_device(): gives=number
    can_device_access_peer(device, peer_device): devices=device,peer_device gives=number
    mem_get_info(device): devices=device topics=current-device
    get_per_process_memory_fraction(device): devices=device gives=number
    set_per_process_memory_fraction(fraction, device): devices=device gives=None
    reset_max_memory_allocated reset_max_memory_cached
    reset_accumulated_memory_stats(device): devices=device gives=None
    reset_peak_memory_stats(device): devices=device gives=None topics=current-device
    reset_accumulated_host_memory_stats reset_peak_host_memory_stats(): gives=None
    memory_summary(device, abbreviated): devices=device gives=string
    memory_snapshot(mempool_id, include_traces)
    Stream(device, priority): devices=device topics=current-device
    ExternalStream(stream_ptr, device): devices=device
    Event(enable_timing, blocking, interprocess, external)
    CUDAGraph(keep_graph)
    MemPool(allocator, use_on_oom, no_split)
    graph(cuda_graph, pool, stream, capture_error_mode, enable_annotations, check_input_liveness)
    make_graphed_callables(callables, sample_args, num_warmup_iters, allow_unused_input,
            pool): gives=unknown
    graph_pool_handle current_blas_handle current_solver_handle cudart ipc_collect
    get_sync_debug_mode get_allocator_backend initial_seed init()
    set_sync_debug_mode(debug_mode)
    is_current_stream_capturing()
    get_rng_state(device): devices=device gives=tensor place=cpu
    get_stream_from_external(data_ptr, device): devices=device
    caching_allocator_alloc(size, device, stream): devices=device
    caching_allocator_delete(mem_ptr)
    """,
    ),
    Table(
        "torch.cuda.",
        Row("number", devices=("device",), topics=_ELSEWHERE | _CUDA | {"elsewhere"}),
        """
    device_memory_used memory_usage utilization temperature power_draw clock_rate(device)
    """,
    ),
    Table(
        "torch.cuda.",
        Row("other", topics=_CUDA),
        """
    device(device): devices=device
    device_of(obj)
    stream set_stream(stream)
    StreamContext(stream)
    empty_cache(): gives=None
    manual_seed manual_seed_all(seed): gives=None
    seed seed_all(): gives=None
    get_rng_state_all(): gives=container
    set_rng_state(new_state, device): gives=None devices=device host=new_state
    set_rng_state_all(new_states): gives=None host=new_states
    memory_allocated max_memory_allocated memory_reserved
    max_memory_reserved(device): devices=device gives=number topics=current-device
    memory_cached max_memory_cached(device): devices=device gives=number
    memory_stats(device): devices=device topics=current-device
    memory_stats_as_nested_dict(device): devices=device
    host_memory_stats host_memory_stats_as_nested_dict(): gives=container
    list_gpu_processes(device): devices=device gives=string
    get_arch_list(): gives=container
    get_gencode_flags(): gives=string
    caching_allocator_enable(value): gives=None
    change_current_allocator(allocator): gives=None
    use_mem_pool(pool, device): devices=device
    amp.autocast(enabled, dtype, cache_enabled)
    amp.GradScaler(init_scale, growth_factor, backoff_factor, growth_interval, enabled): topics=configures
    amp.custom_fwd(fwd, *, cast_inputs): gives=first
    amp.custom_bwd(bwd): gives=first
    nvtx.range_push nvtx.mark nvtx.range_start(msg): gives=number topics=needs-build
    nvtx.range(msg, *args): topics=needs-build
    nvtx.range_pop(): gives=number
    nvtx.range_end(range_id): gives=None
    """,
    ),
    Table(
        "torch.cuda.",
        Row("tensor", "device", topics=_NEEDS | _CUDA | {"legacy-type"}),
        """
    FloatTensor DoubleTensor HalfTensor BFloat16Tensor ByteTensor CharTensor ShortTensor IntTensor
    LongTensor BoolTensor(*data)
    """,
    ),
    Table(
        "torch.backends.",
        Row("flag", topics=_ASKS_BUILD),
        """
    cuda.is_built mps.is_built()
    cudnn.is_available(): topics=!asks-accelerator
    mps.is_available(): topics=!asks-accelerator
    mps.is_macos13_or_newer(minor): gives=number topics=!needs-accelerator
    mps.is_macos_or_newer(major, minor): gives=number topics=!needs-accelerator
    cudnn.version(): gives=number topics=
    cuda.sdp_kernel(enable_flash, enable_math, enable_mem_efficient, enable_cudnn): gives=other topics=
    cuda.enable_flash_sdp cuda.enable_math_sdp cuda.enable_mem_efficient_sdp
    cuda.enable_cudnn_sdp(enabled): gives=None topics=
    cuda.flash_sdp_enabled cuda.math_sdp_enabled cuda.mem_efficient_sdp_enabled
    cuda.cudnn_sdp_enabled(): gives=number topics=
    """,
    ),
    Table(
        "torch.xpu.",
        Row("other", topics=_ELSEWHERE),
        """
    is_available device_count is_initialized is_tf32_supported(): gives=flag topics=!asks-accelerator
    is_bf16_supported(including_emulation): gives=flag topics=!asks-accelerator
    set_device synchronize(device): devices=device gives=None
    get_device_name(device): devices=device gives=string
    get_device_properties get_device_capability current_stream mem_get_info(device): devices=device
    current_device(): gives=number
    reset_peak_memory_stats reset_accumulated_memory_stats(device): devices=device gives=None
    Stream(device, priority): devices=device
    Event(enable_timing)
    get_rng_state(device): devices=device gives=tensor place=cpu
    init initial_seed is_current_stream_capturing()
    empty_cache(): topics= gives=None
    manual_seed manual_seed_all(seed): topics= gives=None
    seed seed_all(): topics= gives=None
    memory_allocated max_memory_allocated memory_reserved max_memory_reserved
    memory_stats(device): devices=device topics= gives=number
    """,
    ),
    Table(
        "torch.mps.",
        Row("other", topics=_ELSEWHERE),
        """
    is_available device_count(): gives=flag topics=!asks-accelerator
    manual_seed(seed): topics= gives=None
    synchronize empty_cache(): gives=None
    current_allocated_memory driver_allocated_memory recommended_max_memory(): gives=number
    seed(): gives=None
    set_per_process_memory_fraction(fraction): gives=None
    get_rng_state(device): devices=device gives=tensor place=cpu
    set_rng_state(new_state, device): devices=device gives=None
    Event(enable_timing)
    """,
    ),
    Table(
        "torch.mtia.",
        Row("other", topics=_ELSEWHERE),
        """
    is_available device_count is_initialized(): gives=flag topics=!asks-accelerator
    synchronize set_device(device): devices=device gives=None
    current_device(): gives=number
    empty_cache(): gives=None
    manual_seed(seed): topics= gives=None
    """,
    ),
    Table(
        "torch.accelerator.",
        Row("other", topics=_ELSEWHERE | {"accelerator"}),
        """
    is_available device_count(): gives=flag topics=!asks-accelerator
    current_accelerator(check_available): gives=device place=default topics= by=devices.accelerator
            by=devices.accelerator
    set_device_index set_device_idx(device): devices=device gives=None
    synchronize(device): devices=device gives=None
    current_device_index current_device_idx(): gives=number
    current_stream get_device_capability(device): devices=device
    device_index(device): devices=device topics=
    set_stream(stream): gives=None
    empty_cache empty_host_cache(): gives=None
    memory_allocated max_memory_allocated memory_reserved
    max_memory_reserved(device_index): devices=device_index gives=number
    memory_stats get_memory_info(device_index): devices=device_index
    reset_peak_memory_stats reset_accumulated_memory_stats(device_index): devices=device_index gives=None
    Graph(keep_graph, *, capture_error_mode, pool)
    """,
    ),
    Table(
        "torch.",
        Row("flag", topics=_ASKS | {"other-library"}),
        """
    npu.is_available npu.device_count hpu.is_available hpu.device_count mlu.is_available
    mlu.device_count musa.is_available musa.device_count sdaa.is_available()
    """,
    ),
    Table(
        "torch.distributed.",
        Row("None", topics=_COLLECTIVE),
        """
    init_process_group(backend, init_method, timeout, world_size, rank, store, group_name, pg_options,
            device_id): devices=device_id by=distributed.init topics=
    new_group(ranks, timeout, backend, pg_options, use_local_synchronization, group_desc, device_id,
            sort_ranks): gives=other devices=device_id by=distributed.init topics=
    init_device_mesh(device_type, mesh_shape, *, backend_override, mesh_dim_names): gives=other
            devices=device_type topics=
    destroy_process_group(group): topics=
    is_initialized(): gives=number topics=asks-processes
    is_available is_nccl_available is_gloo_available is_mpi_available
    is_torchelastic_launched(): gives=number topics=
    get_rank get_world_size(group): gives=number topics=
    get_backend(group): gives=string topics=
    get_node_local_rank(fallback_rank): gives=number topics=
    barrier(group, async_op, device_ids, timeout): devices=device_ids
    all_reduce(tensor, op, group, async_op)
    all_gather(tensor_list, tensor, group, async_op)
    all_gather_into_tensor(output_tensor, input_tensor, group, async_op)
    all_gather_object(object_list, obj, group)
    all_to_all(output_tensor_list, input_tensor_list, group, async_op)
    all_to_all_single(output, input, output_split_sizes, input_split_sizes, group, async_op)
    broadcast(tensor, src, group, async_op, group_src)
    broadcast_object_list(object_list, src, group, device, group_src): devices=device
    gather(tensor, gather_list, dst, group, async_op, group_dst)
    isend send(tensor, dst, group, tag, group_dst)
    irecv recv(tensor, src, group, tag, group_src)
    reduce(tensor, dst, op, group, async_op, group_dst)
    reduce_scatter(output, input_list, op, group, async_op)
    reduce_scatter_tensor(output, input, op, group, async_op)
    scatter(tensor, scatter_list, src, group, async_op, group_src)
    """,
    ),
)
