from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import DataCollatorForSeq2Seq, PreTrainedTokenizerFast

words = "<pad> <unk> </s> ein haus der hund schläft im garten a house the dog sleeps in garden".split()
backend = Tokenizer(models.WordLevel({w: i for i, w in enumerate(dict.fromkeys(words))}, unk_token="<unk>"))
backend.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
tokenizer = PreTrainedTokenizerFast(
    tokenizer_object=backend, unk_token="<unk>", pad_token="<pad>", eos_token="</s>"
)

pairs = [("ein haus", "a house"), ("der hund schläft im garten", "the dog sleeps in the garden")]
features = [
    {"input_ids": tokenizer(src)["input_ids"], "labels": tokenizer(tgt)["input_ids"]} for src, tgt in pairs
]
batch = DataCollatorForSeq2Seq(tokenizer)(features)

labels = batch["labels"]
references = tokenizer.batch_decode(labels, skip_special_tokens=True)
for (source, _), reference in zip(pairs, references):
    print(source, "->", reference)
