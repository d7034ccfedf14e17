import torch


class Glossary:
    def __init__(self):
        self.places = {}

    def read(self, texts):
        for text in texts:
            for word in text.split():
                self.places.setdefault(word, len(self.places) + 1)
        return self

    def count(self):
        return len(self.places) + 1

    def ids(self, text):
        return torch.tensor([[self.places.get(word, 0) for word in text.split()]])
