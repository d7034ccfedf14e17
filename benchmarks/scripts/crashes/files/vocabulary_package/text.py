"""Words to numbers."""


class Vocabulary:
    def __init__(self, sentences):
        words = sorted({word for sentence in sentences for word in sentence.split()})
        self.index = {word: i + 1 for i, word in enumerate(words)}

    def __len__(self):
        return len(self.index)  # cause

    def encode(self, sentence):
        return [self.index.get(word, 0) for word in sentence.split()]
