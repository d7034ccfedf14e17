"""Which weights `pretrained=True` meant for each model of torchvision, as `handle_legacy_interface` has them there."""

from __future__ import annotations

_IMAGENET = "IMAGENET1K_V1"
_VOC = "COCO_WITH_VOC_LABELS_V1"

_CLASSES = """
alexnet AlexNet | convnext_tiny ConvNeXt_Tiny | convnext_small ConvNeXt_Small | convnext_base ConvNeXt_Base
convnext_large ConvNeXt_Large | densenet121 DenseNet121 | densenet161 DenseNet161 | densenet169 DenseNet169
densenet201 DenseNet201 | efficientnet_b0 EfficientNet_B0 | efficientnet_b1 EfficientNet_B1
efficientnet_b2 EfficientNet_B2 | efficientnet_b3 EfficientNet_B3 | efficientnet_b4 EfficientNet_B4
efficientnet_b5 EfficientNet_B5 | efficientnet_b6 EfficientNet_B6 | efficientnet_b7 EfficientNet_B7
efficientnet_v2_s EfficientNet_V2_S | efficientnet_v2_m EfficientNet_V2_M | efficientnet_v2_l EfficientNet_V2_L
googlenet GoogLeNet | inception_v3 Inception_V3 | maxvit_t MaxVit_T | mnasnet0_5 MNASNet0_5 | mnasnet0_75 MNASNet0_75
mnasnet1_0 MNASNet1_0 | mnasnet1_3 MNASNet1_3 | mobilenet_v2 MobileNet_V2 | mobilenet_v3_large MobileNet_V3_Large
mobilenet_v3_small MobileNet_V3_Small | regnet_x_400mf RegNet_X_400MF | regnet_x_800mf RegNet_X_800MF
regnet_x_1_6gf RegNet_X_1_6GF | regnet_x_3_2gf RegNet_X_3_2GF | regnet_x_8gf RegNet_X_8GF
regnet_x_16gf RegNet_X_16GF | regnet_x_32gf RegNet_X_32GF | regnet_y_400mf RegNet_Y_400MF
regnet_y_800mf RegNet_Y_800MF | regnet_y_1_6gf RegNet_Y_1_6GF | regnet_y_3_2gf RegNet_Y_3_2GF
regnet_y_8gf RegNet_Y_8GF | regnet_y_16gf RegNet_Y_16GF | regnet_y_32gf RegNet_Y_32GF | resnet18 ResNet18
resnet34 ResNet34 | resnet50 ResNet50 | resnet101 ResNet101 | resnet152 ResNet152 | resnext50_32x4d ResNeXt50_32X4D
resnext101_32x8d ResNeXt101_32X8D | resnext101_64x4d ResNeXt101_64X4D | shufflenet_v2_x0_5 ShuffleNet_V2_X0_5
shufflenet_v2_x1_0 ShuffleNet_V2_X1_0 | shufflenet_v2_x1_5 ShuffleNet_V2_X1_5 | shufflenet_v2_x2_0 ShuffleNet_V2_X2_0
squeezenet1_0 SqueezeNet1_0 | squeezenet1_1 SqueezeNet1_1 | swin_t Swin_T | swin_s Swin_S | swin_b Swin_B
swin_v2_t Swin_V2_T | swin_v2_s Swin_V2_S | swin_v2_b Swin_V2_B | vgg11 VGG11 | vgg11_bn VGG11_BN | vgg13 VGG13
vgg13_bn VGG13_BN | vgg16 VGG16 | vgg16_bn VGG16_BN | vgg19 VGG19 | vgg19_bn VGG19_BN | vit_b_16 ViT_B_16
vit_b_32 ViT_B_32 | vit_l_16 ViT_L_16 | vit_l_32 ViT_L_32 | wide_resnet50_2 Wide_ResNet50_2
wide_resnet101_2 Wide_ResNet101_2
"""
"""Models of torchvision.models that were trained on ImageNet, and the names of their weights without ``_Weights``."""

_OTHERS: dict[str, tuple[str, str]] = {
    "detection.fasterrcnn_resnet50_fpn": ("FasterRCNN_ResNet50_FPN", "COCO_V1"),
    "detection.fasterrcnn_resnet50_fpn_v2": ("FasterRCNN_ResNet50_FPN_V2", "COCO_V1"),
    "detection.fasterrcnn_mobilenet_v3_large_320_fpn": ("FasterRCNN_MobileNet_V3_Large_320_FPN", "COCO_V1"),
    "detection.fasterrcnn_mobilenet_v3_large_fpn": ("FasterRCNN_MobileNet_V3_Large_FPN", "COCO_V1"),
    "detection.fcos_resnet50_fpn": ("FCOS_ResNet50_FPN", "COCO_V1"),
    "detection.keypointrcnn_resnet50_fpn": ("KeypointRCNN_ResNet50_FPN", "COCO_V1"),
    "detection.maskrcnn_resnet50_fpn": ("MaskRCNN_ResNet50_FPN", "COCO_V1"),
    "detection.maskrcnn_resnet50_fpn_v2": ("MaskRCNN_ResNet50_FPN_V2", "COCO_V1"),
    "detection.retinanet_resnet50_fpn": ("RetinaNet_ResNet50_FPN", "COCO_V1"),
    "detection.retinanet_resnet50_fpn_v2": ("RetinaNet_ResNet50_FPN_V2", "COCO_V1"),
    "detection.ssd300_vgg16": ("SSD300_VGG16", "COCO_V1"),
    "detection.ssdlite320_mobilenet_v3_large": ("SSDLite320_MobileNet_V3_Large", "COCO_V1"),
    "optical_flow.raft_large": ("Raft_Large", "C_T_SKHT_V2"),
    "optical_flow.raft_small": ("Raft_Small", "C_T_V2"),
    "segmentation.deeplabv3_mobilenet_v3_large": ("DeepLabV3_MobileNet_V3_Large", _VOC),
    "segmentation.deeplabv3_resnet50": ("DeepLabV3_ResNet50", _VOC),
    "segmentation.deeplabv3_resnet101": ("DeepLabV3_ResNet101", _VOC),
    "segmentation.fcn_resnet50": ("FCN_ResNet50", _VOC),
    "segmentation.fcn_resnet101": ("FCN_ResNet101", _VOC),
    "segmentation.lraspp_mobilenet_v3_large": ("LRASPP_MobileNet_V3_Large", _VOC),
    "video.mc3_18": ("MC3_18", "KINETICS400_V1"),
    "video.mvit_v1_b": ("MViT_V1_B", "KINETICS400_V1"),
    "video.mvit_v2_s": ("MViT_V2_S", "KINETICS400_V1"),
    "video.r2plus1d_18": ("R2Plus1D_18", "KINETICS400_V1"),
    "video.r3d_18": ("R3D_18", "KINETICS400_V1"),
    "video.s3d": ("S3D", "KINETICS400_V1"),
    "video.swin3d_b": ("Swin3D_B", "KINETICS400_V1"),
    "video.swin3d_s": ("Swin3D_S", "KINETICS400_V1"),
    "video.swin3d_t": ("Swin3D_T", "KINETICS400_V1"),
}
_NEVER_TRAINED = ("vit_h_14", "regnet_y_128gf")
"""Had no weights when the argument was still called `pretrained`."""
_BACKBONES = (
    ("mobilenet_v3_large", "MobileNet_V3_Large_Weights.IMAGENET1K_V1"),
    ("resnet50", "ResNet50_Weights.IMAGENET1K_V1"),
    ("resnet101", "ResNet101_Weights.IMAGENET1K_V1"),
    ("vgg16", "VGG16_Weights.IMAGENET1K_FEATURES"),
)
_SUBMODULES = frozenset(
    "alexnet convnext densenet efficientnet googlenet inception mnasnet mobilenet mobilenetv2 mobilenetv3 regnet resnet "
    "shufflenetv2 squeezenet vgg vision_transformer swin_transformer maxvit".split()
)
"""Files of torchvision.models, whose models are also found one level up."""

_MODELS = {
    model: f"{name}_Weights.{_IMAGENET}"
    for model, name in (pair.split() for line in _CLASSES.strip().splitlines() for pair in line.split(" | "))
} | {model: f"{model.partition('.')[0]}.{name}_Weights.{weights}" for model, (name, weights) in _OTHERS.items()}


def model_of(path: str) -> str | None:
    """The model that ``torchvision.models.resnet.resnet18`` names, as below torchvision.models; None for what is none."""
    if not path.startswith("torchvision.models."):
        return None
    name = path.removeprefix("torchvision.models.")
    first, _, rest = name.partition(".")
    name = rest if first in _SUBMODULES and rest else name
    parts = name.split(".")
    if len(parts) == 3:  # torchvision.models.detection.faster_rcnn.fasterrcnn_resnet50_fpn
        name = f"{parts[0]}.{parts[2]}"
    return name if name in _MODELS or name in _NEVER_TRAINED else None


def weights_of(model: str) -> str | None:
    """The weights below torchvision.models that ``pretrained=True`` meant; None where it meant none."""
    return _MODELS.get(model)


def backbone_weights_of(model: str) -> str | None:
    """The same for ``pretrained_backbone=True`` of a detection or segmentation model."""
    if not model.startswith(("detection.", "segmentation.")):
        return None
    return next((weights for backbone, weights in _BACKBONES if backbone in model), None)
