"""Modules of other libraries: models, layers with weights or buffers, metrics that count on a device.

None of them is there when devlint's tests run: these rows rest on the libraries' own documentation.
"""

from __future__ import annotations

from .row import Row
from .table import Table

_OTHER = frozenset({"other-library"})
_MODULE = Row("module", "cpu", topics=_OTHER | {"model"}, by="modules.make")

TABLES = (
    Table(
        "",
        _MODULE,
        """
    torchvision.models.* timm.create_model timm.models.* segmentation_models_pytorch.*
    clip.model.* torch_geometric.nn.*(*args)
    lpips.LPIPS pytorch_fid.inception.InceptionV3 efficientnet_pytorch.EfficientNet.from_name
    torchcrf.CRF TorchCRF.CRF(*args)
    facenet_pytorch.InceptionResnetV1(pretrained, classify, num_classes, dropout_prob, device): devices=device
    monai.networks.nets.* monai.networks.blocks.* dgl.nn.*(*args)
    e3nn.o3.Linear e3nn.o3.TensorProduct e3nn.o3.FullyConnectedTensorProduct e3nn.o3.FullTensorProduct
    e3nn.o3.ElementwiseTensorProduct e3nn.nn.FullyConnectedNet e3nn.nn.BatchNorm(*args)
    gpytorch.likelihoods.GaussianLikelihood gpytorch.likelihoods.BernoulliLikelihood
    gpytorch.likelihoods.MultitaskGaussianLikelihood gpytorch.models.ExactGP
    gpytorch.models.ApproximateGP gpytorch.Module gpytorch.module.Module(*args)
    mmcv.cnn.ConvModule mmcv.cnn.DepthwiseSeparableConvModule mmcv.cnn.build_conv_layer
    mmcv.cnn.build_upsample_layer mmcv.runner.BaseModule mmengine.model.BaseModule(*args)
    fairseq.modules.* fairseq.models.FairseqEncoder fairseq.models.FairseqDecoder
    fairseq.models.FairseqIncrementalDecoder fairseq.models.BaseFairseqModel
    fairseq.models.FairseqEncoderDecoderModel fairseq.models.FairseqEncoderModel
    fairseq.models.FairseqLanguageModel(*args)
    """,
    ),
    # https://huggingface.co/docs/transformers/main_classes/model: what is made of a configuration.
    Table(
        "",
        _MODULE,
        """
    transformers.*Model transformers.*ForCausalLM transformers.*ForMaskedLM
    transformers.*ForSequenceClassification transformers.*ForTokenClassification
    transformers.*ForQuestionAnswering transformers.*ForConditionalGeneration
    transformers.*ForImageClassification(config)
    diffusers.*Model diffusers.AutoencoderKL(*args)
    """,
    ),
    # https://docs.pytorch.org/audio/stable/transforms.html: those that have buffers, windows and filters.
    Table(
        "torchaudio.transforms.",
        _MODULE,
        """
    Spectrogram InverseSpectrogram GriffinLim MelScale InverseMelScale MelSpectrogram MFCC LFCC TimeStretch
    SpectralCentroid(*args)
    """,
    ),
    # https://lightning.ai/docs/torchmetrics/stable/pages/overview.html#metrics-and-devices: those whose state
    # is added up, on the device of the metric; a list of what came takes it from anywhere.
    Table(
        "torchmetrics.",
        _MODULE._replace(topics=_MODULE.topics | {"counts"}),
        """
    Accuracy F1Score FBetaScore F1 Precision Recall Specificity StatScores HammingDistance JaccardIndex
    ConfusionMatrix CohenKappa MatthewsCorrCoef IoU ExactMatch MeanSquaredError MeanAbsoluteError
    MeanAbsolutePercentageError MeanSquaredLogError R2Score ExplainedVariance PearsonCorrCoef
    PeakSignalNoiseRatio PSNR StructuralSimilarityIndexMeasure SSIM(*args)
    classification.*Accuracy classification.*F1Score classification.*FBetaScore classification.*Precision
    classification.*Recall classification.*Specificity classification.*StatScores
    classification.*JaccardIndex classification.*ConfusionMatrix classification.*HammingDistance
    classification.*CohenKappa classification.*MatthewsCorrCoef classification.*ExactMatch(*args)
    regression.MeanSquaredError regression.MeanAbsoluteError regression.MeanAbsolutePercentageError
    regression.R2Score regression.PearsonCorrCoef regression.ExplainedVariance(*args)
    image.PeakSignalNoiseRatio image.StructuralSimilarityIndexMeasure image.psnr.PeakSignalNoiseRatio
    image.ssim.StructuralSimilarityIndexMeasure image.FrechetInceptionDistance
    image.fid.FrechetInceptionDistance image.LearnedPerceptualImagePatchSimilarity
    image.lpip.LearnedPerceptualImagePatchSimilarity image.inception.InceptionScore
    image.kid.KernelInceptionDistance(*args)
    """,
    ),
    # The other metrics are modules all the same, and nothing fails where their lists are.
    Table(
        "torchmetrics.",
        Row("module", "cpu", topics=_OTHER, by="modules.make"),
        """
    AUROC AveragePrecision ROC PrecisionRecallCurve CalibrationError MetricCollection MeanMetric SumMetric
    MaxMetric MinMetric CatMetric Dice KLDivergence CosineSimilarity SpearmanCorrCoef MetricTracker
    ClasswiseWrapper MinMaxMetric classification.* regression.* aggregation.* retrieval.* wrappers.*(*args)
    """,
    ),
    Table(
        "",
        Row("other", topics=_OTHER),
        """
    torchvision.models.*_Weights torchvision.models.get_weight torchvision.models.list_models
    timm.list_models timm.models.list_models timm.data.resolve_data_config
    transformers.TF* transformers.Flax* diffusers.Flax*(*args)
    segmentation_models_pytorch.losses.* segmentation_models_pytorch.metrics.*
    segmentation_models_pytorch.utils.* segmentation_models_pytorch.encoders.*
    dgl.nn.functional.* dgl.nn.pytorch.softmax.* dgl.nn.pytorch.utils.*(*args): gives=unknown
    peft.get_peft_model peft.PeftModel peft.PeftModel*.from_pretrained(model, peft_config, *args): gives=first
            place=first
    """,
    ),
)
