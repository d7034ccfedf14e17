"""The tensor types of old PyTorch, ``torch.LongTensor`` and ``torch.cuda.FloatTensor``: a dtype and a device in one name."""

from __future__ import annotations

from torchsleuth.tensors.device import CPU, Device
from torchsleuth.tensors.spec import Native

DTYPES = {
    "Tensor": "float32",
    "FloatTensor": "float32",
    "DoubleTensor": "float64",
    "HalfTensor": "float16",
    "BFloat16Tensor": "bfloat16",
    "LongTensor": "int64",
    "IntTensor": "int32",
    "ShortTensor": "int16",
    "CharTensor": "int8",
    "ByteTensor": "uint8",
    "BoolTensor": "bool",
}


def named_type(value: object) -> tuple[str, Device] | None:
    """The dtype and the device that a tensor type stands for, as a value or as the text that ``x.type()`` gives."""
    path = value.path if isinstance(value, Native) else value
    package, _, name = path.rpartition(".") if isinstance(path, str) else ("", "", "")
    if name not in DTYPES or package not in ("torch", "torch.cuda"):
        return None
    return DTYPES[name], CPU if package == "torch" else Device("cuda")


__all__ = ["DTYPES", "named_type"]
