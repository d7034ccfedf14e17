from .transformer import Seq2SeqTransformer

__all__ = ["Seq2SeqTransformer"]
