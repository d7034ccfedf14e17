"""The environment of a run: Python, the libraries it has imported, the machine."""

from __future__ import annotations

import os
import sys
from typing import Any

_LIBRARIES = (
    "torch", "torchvision", "torchaudio", "torchtext", "numpy", "scipy", "sklearn", "pandas", "PIL", "timm",
    "transformers", "datasets", "tokenizers", "accelerate", "peft", "lightning", "pytorch_lightning", "ignite",
    "torchmetrics", "torch_geometric", "einops", "triton", "tensorboard", "wandb",
)  # fmt: skip


def versions() -> dict[str, Any]:
    """Read where the libraries keep them: nothing of the user's is called, and no library is imported."""
    libraries = {}
    for name in _LIBRARIES:
        version = getattr(sys.modules.get(name), "__dict__", {}).get("__version__")
        if isinstance(version, str):
            libraries[name] = str(version)
    found: dict[str, Any] = {
        "python": sys.version.split()[0],
        "executable": sys.executable,
        "platform": " ".join(os.uname()[index] for index in (0, 2, 4)) if hasattr(os, "uname") else sys.platform,
        "processors": os.cpu_count(),
        "libraries": libraries,
    }
    torch = sys.modules.get("torch")
    if "torch" in libraries and torch is not None:
        found["threads"] = torch.get_num_threads()
        found["cuda"] = torch.version.cuda
        if torch.cuda.is_initialized():
            found["devices"] = [torch.cuda.get_device_name(index) for index in range(torch.cuda.device_count())]
    return found
