"""Methods and attributes of modules, optimizers, loaders, and objects that move in place."""

from __future__ import annotations

from .row import Row
from .table import Table

TABLES = (
    Table(
        "Module.",
        Row("first", "device", devices=("device",), by="modules.move"),
        """
    to(device, dtype, non_blocking, *, memory_format, tensor)
    cuda xpu ipu mtia(device)
    cpu(): devices= place=cpu
    to_empty(*, device, recurse): topics=replaces
    """,
    ),
    Table(
        "Module.",
        Row("first", "first", topics=frozenset({"casts"})),
        """
    float double half bfloat16()
    type(dst_type)
    """,
    ),
    Table(
        "Module.",
        Row("first", "first"),
        """
    eval share_memory()
    train(mode)
    requires_grad_(requires_grad)
    apply(fn)
    compile(*args): gives=None place=
    """,
    ),
    Table(
        "Module.",
        Row("container", "first", by="modules.parameters"),
        """
    parameters(recurse)
    buffers(recurse)
    named_parameters(prefix, recurse, remove_duplicate)
    named_buffers(prefix, recurse, remove_duplicate)
    """,
    ),
    Table(
        "Module.",
        Row("container", "first", by="modules.parts"),
        """
    children named_children()
    modules(remove_duplicate)
    named_modules(memo, prefix, remove_duplicate)
    values items keys(): topics=of-module-dict
    """,
    ),
    Table(
        "Module.",
        Row("None", by="modules.register"),
        """
    register_buffer(name, tensor, persistent)
    register_parameter(name, param)
    add_state(name, default, dist_reduce_fx, persistent): topics=other-library
    add_module register_module(name, module)
    """,
    ),
    Table(
        "Module.",
        Row("unknown", "first", by="modules.forward"),
        """
    forward(*input)
    __call__(*args)
    generate encode_text encode_image(*args): topics=other-library
    """,
    ),
    Table(
        "Module.",
        Row("unknown"),
        """
    state_dict(*args, destination, keep_vars, prefix): gives=container place=first by=modules.state
    load_state_dict(state_dict, strict, assign): gives=other topics=crosses
    zero_grad(set_to_none): gives=None
    get_submodule(target): gives=module place=first
    get_parameter(target): gives=parameter place=first
    get_buffer(target): gives=tensor place=first
    set_submodule(target, module, strict): gives=None
    get_extra_state(): gives=unknown
    set_extra_state(state): gives=None
    extra_repr(): gives=string
    register_forward_hook(hook, *, always_call, prepend, with_kwargs): gives=other
    register_forward_pre_hook(hook, *, prepend, with_kwargs): gives=other by=modules.before
    register_full_backward_hook register_full_backward_pre_hook(hook, prepend): gives=other
    register_backward_hook register_load_state_dict_post_hook(hook): gives=other
    register_load_state_dict_pre_hook register_state_dict_post_hook
    register_state_dict_pre_hook(hook): gives=other
    append(module): gives=first topics=of-module-list by=modules.take
    insert(index, module): gives=None topics=of-module-list by=modules.take
    extend(modules): gives=first topics=of-module-list by=modules.take
    """,
    ),
    Table(
        "Optimizer.",
        Row("None"),
        """
    step(closure): gives=unknown by=optimizers.step
    zero_grad(set_to_none)
    load_state_dict(state_dict): by=optimizers.load
    state_dict(): gives=container
    add_param_group(param_group): by=optimizers.add
    register_step_pre_hook register_step_post_hook(hook): gives=other
    """,
    ),
    Table(
        "Loader.",
        Row("unknown"),
        """
    __iter__(): gives=first
    __len__(): gives=number
    """,
    ),
    Table(
        "InPlace.",
        Row("first", "device", devices=("device",), by="modules.move"),
        """
    to(device)
    cuda cpu xpu(device)
    """,
    ),
    Table(
        "Generator.",
        Row("first", "first"),
        """
    manual_seed(seed)
    seed initial_seed(): gives=number place=
    get_state(): gives=tensor place=cpu
    set_state(new_state): host=new_state
    """,
    ),
    Table(
        "Device.",
        Row("string", "first"),
        """
    __str__(): by=strings.str
    """,
    ),
)

ATTRIBUTES = (
    Table(
        "Module.",
        Row("parameter", "first", topics=frozenset({"part"})),
        """
    weight bias in_proj_weight in_proj_bias()
    training(): gives=number place= topics=
    module(): gives=first topics=
    """,
    ),
    Table(
        "Loader.",
        Row("unknown"),
        """
    dataset collate_fn batch_sampler sampler generator worker_init_fn()
    num_workers batch_size(): gives=number
    pin_memory drop_last(): gives=number
    """,
    ),
    Table(
        "Optimizer.",
        Row("container"),
        """
    param_groups state defaults()
    """,
    ),
    Table(
        "Generator.",
        Row("device", "first"),
        """
    device()
    """,
    ),
    Table(
        "Device.",
        Row("string", "first"),
        """
    type()
    index(): gives=number place=
    """,
    ),
)
"""What reading an attribute gives."""
