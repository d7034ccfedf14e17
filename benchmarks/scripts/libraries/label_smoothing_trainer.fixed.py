import torch
import torch.nn.functional as F
from transformers import BertConfig, BertForSequenceClassification, Trainer, TrainingArguments


class SmoothTrainer(Trainer):
    def compute_loss(self, model, inputs, return_outputs=False, **kwargs):
        labels = inputs.pop("labels")
        outputs = model(**inputs)
        loss = F.cross_entropy(outputs.logits, labels, label_smoothing=0.1)
        return (loss, outputs) if return_outputs else loss


config = BertConfig(
    vocab_size=100, hidden_size=32, num_hidden_layers=1, num_attention_heads=2, intermediate_size=64, num_labels=3
)
data = [{"input_ids": torch.randint(5, 100, (10,)), "labels": i % 3} for i in range(48)]
args = TrainingArguments(
    output_dir="smooth", max_steps=4, per_device_train_batch_size=8, save_strategy="no", report_to="none", use_cpu=True
)
trainer = SmoothTrainer(
    model=BertForSequenceClassification(config), args=args, train_dataset=data[:32], eval_dataset=data[32:]
)
trainer.train()
print(trainer.evaluate())
