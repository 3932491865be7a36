"""`torch.optim`, and optimizers of other libraries: what they hold, and when they get state of their own.

Which allocate state when built was measured: of `torch.optim` Adagrad alone. SGD has none without momentum.
"""

from __future__ import annotations

from .row import Row
from .table import Table

_OTHERS = frozenset({"other-library"})

TABLES = (
    Table(
        "torch.optim.",
        Row("optimizer", by="optimizers.make"),
        """
    ASGD(params, lr, lambd, alpha, t0, weight_decay, foreach, maximize, differentiable, capturable)
    Adadelta(params, lr, rho, eps, weight_decay, foreach, *, capturable, differentiable, maximize)
    Adafactor(params, lr, beta2_decay, eps, d, weight_decay, *, foreach, maximize)
    Adagrad(params, lr, lr_decay, weight_decay, initial_accumulator_value, eps, foreach, *,
            differentiable, fused, maximize): topics=stateful
    Adam(params, lr, betas, eps, weight_decay, amsgrad, *, capturable, decoupled_weight_decay,
            differentiable, foreach, fused, maximize)
    AdamW(params, lr, betas, eps, weight_decay, amsgrad, *, capturable, differentiable, foreach,
            fused, maximize)
    Adamax(params, lr, betas, eps, weight_decay, foreach, *, capturable, differentiable, maximize)
    LBFGS(params, lr, max_iter, max_eval, tolerance_grad, tolerance_change, history_size, line_search_fn)
    Muon(params, lr, weight_decay, momentum, nesterov, ns_coefficients, eps, ns_steps, adjust_lr_fn)
    NAdam(params, lr, betas, eps, weight_decay, momentum_decay, decoupled_weight_decay, *,
            capturable, differentiable, foreach, maximize)
    Optimizer(params, defaults)
    RAdam(params, lr, betas, eps, weight_decay, decoupled_weight_decay, *, capturable,
            differentiable, foreach, maximize)
    RMSprop(params, lr, alpha, eps, weight_decay, momentum, centered, capturable, foreach, maximize,
            differentiable)
    Rprop(params, lr, etas, step_sizes, *, capturable, differentiable, foreach, maximize)
    SGD(params, lr, momentum, dampening, weight_decay, nesterov, *, differentiable, foreach, fused,
            maximize): topics=stateless-without-momentum
    SparseAdam(params, lr, betas, eps, maximize)
    """,
    ),
    Table(
        "torch.optim.lr_scheduler.",
        Row("other", topics=frozenset({"scheduler"})),
        """
    ChainedScheduler(schedulers, optimizer)
    ConstantLR(optimizer, factor, total_iters, last_epoch)
    CosineAnnealingLR(optimizer, T_max, eta_min, last_epoch)
    CosineAnnealingWarmRestarts(optimizer, T_0, T_mult, eta_min, last_epoch)
    CyclicLR(optimizer, base_lr, max_lr, step_size_up, step_size_down, mode, gamma, scale_fn,
            scale_mode, cycle_momentum, base_momentum, max_momentum, last_epoch)
    ExponentialLR(optimizer, gamma, last_epoch)
    LRScheduler(optimizer, last_epoch)
    LambdaLR MultiplicativeLR(optimizer, lr_lambda, last_epoch)
    LinearLR(optimizer, start_factor, end_factor, total_iters, last_epoch)
    MultiStepLR(optimizer, milestones, gamma, last_epoch)
    OneCycleLR(optimizer, max_lr, total_steps, epochs, steps_per_epoch, pct_start, anneal_strategy,
            cycle_momentum, base_momentum, max_momentum, div_factor, final_div_factor, three_phase,
            last_epoch)
    PolynomialLR(optimizer, total_iters, power, last_epoch)
    ReduceLROnPlateau(optimizer, mode, factor, patience, threshold, threshold_mode, cooldown, min_lr, eps)
    SequentialLR(optimizer, schedulers, milestones, last_epoch)
    StepLR(optimizer, step_size, gamma, last_epoch)
    """,
    ),
    Table(
        "torch.optim.swa_utils.",
        Row("module", "device", devices=("device",), by="modules.make"),
        """
    AveragedModel(model, device, avg_fn, multi_avg_fn, use_buffers): topics=copies-first
    update_bn(loader, model, device): gives=None place= by=
    SWALR(optimizer, swa_lr, anneal_epochs, anneal_strategy, last_epoch): gives=other place= devices= by=
    """,
    ),
    Table(
        "",
        Row("optimizer", by="optimizers.make", topics=_OTHERS),
        """
    transformers.AdamW transformers.Adafactor transformers.optimization.AdamW
    transformers.optimization.Adafactor apex.optimizers.FusedAdam apex.optimizers.FusedSGD
    apex.optimizers.FusedLAMB apex.optimizers.FusedNovoGrad bitsandbytes.optim.*
    lion_pytorch.Lion timm.optim.AdamP timm.optim.Lamb timm.optim.AdamW timm.optim.Lion
    timm.optim.create_optimizer timm.optim.create_optimizer_v2 torch_optimizer.*
    deepspeed.ops.adam.FusedAdam deepspeed.ops.adam.DeepSpeedCPUAdam torchao.optim.* schedulefree.*
    came_pytorch.CAME prodigyopt.Prodigy galore_torch.GaLoreAdamW sophia.SophiaG(params, lr)
    """,
    ),
)
