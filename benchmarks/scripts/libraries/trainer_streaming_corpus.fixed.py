import torch
from torch.utils.data import IterableDataset
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments


class TokenStream(IterableDataset):
    def __init__(self, blocks, block_size):
        self.blocks, self.block_size = blocks, block_size

    def __iter__(self):
        generator = torch.Generator().manual_seed(0)
        for _ in range(self.blocks):
            ids = torch.randint(1, 80, (self.block_size,), generator=generator)
            yield {"input_ids": ids, "labels": ids}


config = GPT2Config(vocab_size=80, n_positions=32, n_embd=32, n_layer=1, n_head=2, bos_token_id=0, eos_token_id=0)
args = TrainingArguments(
    output_dir="stream",
    max_steps=8,
    per_device_train_batch_size=8,
    save_strategy="no",
    report_to="none",
    use_cpu=True,
)
trainer = Trainer(model=GPT2LMHeadModel(config), args=args, train_dataset=TokenStream(64, 16))
trainer.train()
