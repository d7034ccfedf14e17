"""A small stand-in for transformers: a model that is built of a configuration and returns a record."""

from collections import OrderedDict
from dataclasses import dataclass, fields

import torch
from torch import nn

__version__ = "0.0"


class TinyConfig:
    def __init__(self, vocab_size: int = 100, hidden_size: int = 32, is_decoder: bool = False) -> None:
        self.vocab_size, self.hidden_size, self.is_decoder = vocab_size, hidden_size, is_decoder

    def to_dict(self) -> dict:
        return dict(vars(self))

    @classmethod
    def from_pretrained(cls, name: str, local_files_only: bool = False, **changes: int) -> "TinyConfig":
        assert local_files_only, "nothing is downloaded"
        if name != "cached":
            raise OSError(name)
        return cls(**{"hidden_size": 48, **changes})


class Output(OrderedDict):
    def __getattr__(self, name: str) -> object:
        return self[name]

    def to_tuple(self) -> tuple:
        return tuple(self.values())


@dataclass
class TaggerOutput(Output):
    """What may be there: what is None is not among the entries."""

    loss: "torch.Tensor | None" = None
    logits: "torch.Tensor | None" = None
    hidden_states: "tuple | None" = None

    def __post_init__(self) -> None:
        self.update((field.name, value) for field in fields(self) if (value := vars(self)[field.name]) is not None)


class TinyModel(nn.Module):
    config_class = TinyConfig

    def __init__(self, config: TinyConfig) -> None:
        super().__init__()
        self.config = config
        self.embeddings = nn.Embedding(config.vocab_size, config.hidden_size)
        self.encoder = nn.TransformerEncoderLayer(config.hidden_size, 4, 64, batch_first=True)

    @property
    def base(self) -> nn.Module:
        return self.encoder

    def forward(self, input_ids: torch.Tensor) -> Output:
        hidden = self.encoder(self.embeddings(input_ids))
        return Output(last_hidden_state=hidden, cache=object(), pooler_output=hidden[:, 0])


class TinyClassifier(TinyModel):
    """Computes the loss of one label for each text."""

    def __init__(self, config: TinyConfig) -> None:
        super().__init__(config)
        self.classifier = nn.Linear(config.hidden_size, 3)

    def forward(self, input_ids: torch.Tensor, labels: "torch.Tensor | None" = None) -> TaggerOutput:
        logits = self.classifier(self.encoder(self.embeddings(input_ids))[:, 0])
        return TaggerOutput(None if labels is None else nn.functional.cross_entropy(logits, labels), logits)


class TinyTagger(TinyModel):
    """Computes the loss of several labels for each text."""

    def __init__(self, config: TinyConfig) -> None:
        super().__init__(config)
        self.positions = nn.Parameter(torch.zeros(64, config.hidden_size))
        self.classifier = nn.Linear(config.hidden_size, 6)

    def forward(
        self, input_ids: torch.Tensor, labels: "torch.Tensor | None" = None, output_hidden_states: bool = False
    ) -> TaggerOutput:
        hidden = self.embeddings(input_ids) + self.positions[: input_ids.shape[1]]
        logits = self.classifier(self.encoder(hidden)[:, 0])
        loss = None if labels is None else nn.functional.binary_cross_entropy_with_logits(logits, labels)
        return TaggerOutput(loss, logits, (hidden, hidden) if output_hidden_states else None)


class TinyForMaskedLM(TinyModel):
    pass


class TinyLMHeadModel(TinyModel):
    pass


class OtherLMHeadModel(TinyModel):
    """One that is a decoder whatever its configuration says."""
