"""Other libraries: what moves for you or in place, which give modules, which run on an accelerator alone.

None of them is there when devlint's tests run: these rows rest on the libraries' own documentation.
"""

from __future__ import annotations

from .row import Row
from .table import Table, words

_OTHER = frozenset({"other-library"})
_MODEL = _OTHER | {"model"}

TABLES = (
    Table(
        "",
        Row("tensor", "cpu", topics=_OTHER),
        """
    clip.tokenize clip.clip.tokenize(texts, context_length, truncate)
    open_clip.tokenize open_clip.tokenizer.tokenize(texts, context_length)
    """,
    ),
    Table(
        "",
        Row("module", "cpu", topics=_MODEL, by="modules.make", devices=("device",)),
        """
    open_clip.create_model(model_name, pretrained, precision, device)
    open_clip.create_model_and_transforms open_clip.factory.create_model_and_transforms(model_name,
            pretrained, precision, device): by=modules.with_transforms
    clip.load clip.clip.load(name, device, jit, download_root): place= by=modules.with_transforms
    open_clip.create_model_from_pretrained(model_name, pretrained, precision,
            device): by=modules.with_transforms
    """,
    ),
    Table(
        "*.",
        Row("module", "cpu", topics=_OTHER, by="modules.pretrained"),
        """
    from_pretrained from_config(pretrained_model_name_or_path, *args, device_map): devices=device_map
    """,
    ),
    Table(
        "",
        Row("tensor", "cpu", topics=_OTHER),
        """
    torchvision.transforms.functional.to_tensor torchvision.transforms.functional.pil_to_tensor(pic)
    torchvision.transforms.v2.functional.to_tensor torchvision.transforms.v2.functional.pil_to_tensor(pic)
    torchvision.io.read_image torchvision.io.decode_image(path, mode, apply_exif_orientation)
    safetensors.torch.load(data): gives=container place= topics=loads
    safetensors.torch.load_file(filename, device): gives=container place= devices=device topics=loads
    safetensors.safe_open(filename, framework, device): gives=other place= devices=device topics=loads
    torchaudio.load(uri, frame_offset, num_frames, normalize, channels_first, format, buffer_size,
            backend): topics=several
    """,
    ),
    Table(
        "",
        Row("other", topics=_OTHER, by="transforms.make"),
        """
    torchvision.transforms.* torchvision.transforms.v2.*(*args)
    torchvision.transforms.Compose torchvision.transforms.v2.Compose(transforms): by=transforms.compose
    """,
    ),
    Table(
        "",
        Row("array", "cpu", topics=_OTHER | {"host-only"}),
        """
    numpy.* numpy.random.* numpy.linalg.*(*args)
    numpy.random.seed(seed): gives=None place=
    matplotlib.pyplot.plot matplotlib.pyplot.scatter matplotlib.pyplot.imshow matplotlib.pyplot.hist
    matplotlib.pyplot.bar matplotlib.pyplot.semilogy matplotlib.pyplot.semilogx matplotlib.pyplot.loglog
    matplotlib.pyplot.fill_between matplotlib.pyplot.errorbar matplotlib.pyplot.matshow
    matplotlib.pyplot.contourf matplotlib.pyplot.contour matplotlib.pyplot.imsave(*args)
    matplotlib.axes.Axes.*(*args)
    sklearn.metrics.* scipy.special.* scipy.stats.* scipy.linalg.* scipy.optimize.linear_sum_assignment
    scipy.ndimage.* scipy.spatial.distance.*(*args)
    pandas.DataFrame pandas.Series(data, index, columns, dtype): gives=other place= topics=keeps-items
    torchaudio.save(uri, src, sample_rate, channels_first): gives=None place=
    soundfile.write(file, data, samplerate): gives=None place=
    imageio.imwrite imageio.v2.imwrite imageio.v3.imwrite(uri, im): gives=None place=
    seaborn.heatmap(data, *args): gives=other place=
    """,
    ),
    # It has processes spawned as soon as it is imported: https://github.com/pytorch/rl, torchrl/__init__.py.
    Table(
        "torchrl.",
        Row("unknown", topics=_OTHER | {"start-method"}),
        """
    data.* envs.* collectors.* modules.* objectives.*(*args)
    """,
    ),
    # Given a tensor, numpy calls its method of that name, which fails everywhere; not so given a list.
    Table(
        "numpy.",
        Row("array", "cpu", topics=_OTHER | {"host-only", "by-method"}),
        """
    sum mean max min amax amin prod std var any all(*args)
    """,
    ),
    # What reads no values, or makes Python's own numbers of them.
    Table(
        "numpy.",
        Row("array", "cpu", topics=_OTHER),
        """
    shape size ndim isscalar iterable real squeeze nonzero split array_split hsplit vsplit dsplit
    moveaxis rollaxis swapaxes zeros ones empty eye identity full arange linspace logspace tri float64
    iinfo finfo dtype can_cast result_type issubdtype errstate printoptions set_printoptions
    get_printoptions seterr random.shuffle random.normal random.uniform random.randint
    random.rand random.randn random.RandomState random.default_rng(*args)
    """,
    ),
    # It takes elements of what it is given, as that does it: `arr[indices]`.
    Table("numpy.", Row("first", "first", topics=_OTHER), "take_along_axis(arr, indices, axis)"),
    Table(
        "",
        Row("first", "first", topics=_OTHER),
        """
    torchvision.models.feature_extraction.create_feature_extractor(model, return_nodes)
    tqdm.tqdm tqdm.auto.tqdm tqdm.notebook.tqdm tqdm.rich.tqdm tqdm.autonotebook.tqdm
    tqdm.asyncio.tqdm(iterable, desc, total, leave)
    rich.progress.track(sequence, description, total)
    alive_progress.alive_it(it, total)
    progressbar.progressbar(iterator)
    tqdm.trange tqdm.auto.trange(*args): gives=container place=
    accelerate.skip_first_batches(dataloader, num_batches)
    """,
    ),
    Table(
        "",
        Row("moves-in-place", "first", topics=_OTHER | {"in-place"}),
        """
    transformers.BatchEncoding transformers.BatchFeature(data, encoding, tensor_type)
    torch_geometric.data.Data torch_geometric.data.Batch torch_geometric.data.HeteroData
    torch_geometric.data.TemporalData(*args)
    flair.data.Sentence flair.data.Token(*args)
    """,
    ),
    Table(
        "",
        Row("other", topics=_OTHER | {"moves-for-you"}),
        """
    accelerate.Accelerator(device_placement, split_batches, mixed_precision,
            gradient_accumulation_steps, cpu): by=accelerate.make topics=prepares
    accelerate.Accelerator.prepare(*args): gives=unknown by=accelerate.prepare
    accelerate.Accelerator.prepare_model accelerate.Accelerator.prepare_data_loader(*args): gives=unknown
            by=accelerate.prepare
    accelerate.Accelerator.unwrap_model accelerate.Accelerator.gather
    accelerate.Accelerator.gather_for_metrics accelerate.Accelerator.reduce
    accelerate.Accelerator.pad_across_processes(tensor): gives=first place=first
    pytorch_lightning.Trainer(*args, accelerator, devices): devices=accelerator
    pytorch_lightning.Fabric lightning_fabric.Fabric lightning_fabric.fabric.Fabric(accelerator, strategy,
            devices): devices=accelerator by=fabric.make topics=prepares
    lightning_fabric.Fabric.setup lightning_fabric.Fabric.setup_module
    lightning_fabric.Fabric.setup_dataloaders lightning_fabric.Fabric.setup_optimizers(*args): gives=unknown
            by=accelerate.prepare
    lightning_fabric.Fabric.init_module lightning_fabric.Fabric.init_tensor(): by=fabric.context
    ignite.engine.create_supervised_trainer(model, optimizer, loss_fn, device, non_blocking): devices=device
    ignite.engine.create_supervised_evaluator(model, metrics, device, non_blocking): devices=device
    transformers.Trainer transformers.Seq2SeqTrainer(model, args, data_collator, train_dataset)
    deepspeed.initialize(args, model, optimizer, model_parameters): gives=unknown
    skorch.NeuralNetClassifier skorch.NeuralNetRegressor(module, *args, device): devices=device
    transformers.pipeline(task, model, config, tokenizer, feature_extractor, image_processor,
            framework, revision, use_fast, token, device, device_map): devices=device,device_map
    """,
    ),
    # https://huggingface.co/docs/transformers/main_classes/data_collator: tensors of what samples hold.
    Table(
        "",
        Row("other", topics=_OTHER | {"collates"}, by="transforms.make"),
        """
    transformers.DefaultDataCollator transformers.DataCollatorWithPadding
    transformers.DataCollatorForTokenClassification transformers.DataCollatorForSeq2Seq
    transformers.DataCollatorForLanguageModeling transformers.DataCollatorForWholeWordMask
    transformers.DataCollatorForPermutationLanguageModeling
    transformers.DataCollatorForMultipleChoice(tokenizer)
    transformers.default_data_collator(features): gives=unknown
    """,
    ),
    Table(
        "",
        Row("unknown", topics=_OTHER, by="modules.traced"),
        """
    thop.profile thop.profile.profile(model, inputs)
    fvcore.nn.FlopCountAnalysis fvcore.nn.flop_count(model, inputs)
    """,
    ),
    Table(
        "",
        Row("unknown", topics=_OTHER | {"configures"}),
        """
    click.option typer.Option typer.Argument pydantic.Field attr.ib attrs.field
    hydra.compose omegaconf.OmegaConf.create(*args)
    """,
    ),
    Table(
        "",
        Row("first", topics=_OTHER),
        """
    einops.rearrange(tensor, pattern, **axes_lengths): gives=tensor place=operands
    einops.reduce(tensor, pattern, reduction, **axes_lengths): gives=tensor place=operands
    einops.repeat(tensor, pattern, **axes_lengths): gives=tensor place=operands
    einops.einsum(*args): gives=tensor place=operands
    torchvision.utils.make_grid(tensor, nrow, padding, normalize, value_range, scale_each,
            pad_value): gives=tensor place=operands
    torchvision.utils.draw_bounding_boxes(image, boxes, labels, colors, fill, width, font,
            font_size): gives=tensor place=first
    torchvision.utils.draw_segmentation_masks(image, masks, alpha, colors): gives=tensor place=operands
    torchvision.utils.draw_keypoints(image, keypoints): gives=tensor place=first
    torchvision.ops.box_convert torchvision.ops.box_area torchvision.ops.masks_to_boxes
            torchvision.ops.clip_boxes_to_image(boxes, *args): gives=tensor place=operands
    torchvision.ops.box_iou torchvision.ops.generalized_box_iou torchvision.ops.complete_box_iou
            torchvision.ops.distance_box_iou(boxes1, boxes2): gives=tensor place=operands
    torchvision.ops.nms(boxes, scores, iou_threshold): gives=tensor place=operands
    torchvision.ops.batched_nms(boxes, scores, idxs, iou_threshold): gives=tensor place=operands
    torch_scatter.scatter torch_scatter.scatter_add torch_scatter.scatter_sum torch_scatter.scatter_mul
            torch_scatter.scatter_mean torch_scatter.scatter_softmax torch_scatter.scatter_log_softmax
            (src, index, dim, out, dim_size): gives=tensor place=operands
    torch_geometric.nn.global_add_pool torch_geometric.nn.global_mean_pool
            torch_geometric.nn.global_max_pool(x, batch, size): gives=tensor place=operands
    torch_geometric.nn.approx_knn torch_geometric.nn.approx_knn_graph torch_geometric.nn.avg_pool
    torch_geometric.nn.avg_pool_neighbor_x torch_geometric.nn.avg_pool_x torch_geometric.nn.bro
    torch_geometric.nn.dense_diff_pool torch_geometric.nn.dense_mincut_pool torch_geometric.nn.fps
    torch_geometric.nn.gini torch_geometric.nn.global_sort_pool torch_geometric.nn.graclus
    torch_geometric.nn.knn torch_geometric.nn.knn_graph torch_geometric.nn.knn_interpolate
    torch_geometric.nn.max_pool torch_geometric.nn.max_pool_neighbor_x torch_geometric.nn.max_pool_x
    torch_geometric.nn.nearest torch_geometric.nn.radius torch_geometric.nn.radius_graph
    torch_geometric.nn.summary torch_geometric.nn.to_fixed_size torch_geometric.nn.to_hetero
    torch_geometric.nn.to_hetero_with_bases torch_geometric.nn.voxel_grid
    torch_geometric.nn.inits.* torch_geometric.nn.DataParallel(*args): gives=unknown place=
    """,
    ),
)

CUDA_BY_NATURE = words(
    """
    triton cupy pycuda numba.cuda cuda tensorrt torch_tensorrt apex flash_attn bitsandbytes nvidia
    pynvml deepspeed transformer_engine cutlass cuml cudf rmm vllm kaolin spconv tinycudann
    diff_gaussian_rasterization gsplat nvdiffrast torch.utils.cpp_extension minkowski
    MinkowskiEngine torch2trt cugraph pylibcugraph deep_gemm deep_ep flashinfer aiter
    sgl_kernel flash_mla fast_hadamard_transform torch_npu torch_mlu torch_musa habana_frameworks
    intel_extension_for_pytorch warpconvnet pytorch_quantization ppq mamba_ssm causal_conv1d tensorrt_llm
    isaacgym isaacsim isaaclab aitemplate neural_renderer pointnet2_ops simple_knn frnn
    gaussian_renderer gaussian_hierarchy
    """
)
"""Packages that run on an accelerator alone: a module that imports one needs the device anyway."""

TAKE_TENSORS = ("torchaudio.transforms.", "torchmetrics.", "lpips.")
"""Libraries whose layers are given nothing but tensors."""
STRICT_MODELS = (
    *("torch.nn.", "transformers.", "torchvision.models.", "timm.", "torch_geometric.nn."),
    *TAKE_TENSORS,
)
"""Libraries whose models need every tensor that they are given on their own device."""
