import torch
import torch.nn as nn


class Generator(nn.Module):
    def __init__(self, z_dim, n_classes, out_dim=2, width=32):
        super().__init__()
        self.label_emb = nn.Embedding(n_classes, z_dim)

        def block(in_feat, out_feat, normalize=True):
            layers = [nn.Linear(in_feat, out_feat)]
            if normalize:
                layers.append(nn.BatchNorm1d(out_feat, 0.8))
            layers.append(nn.LeakyReLU(0.2, inplace=True))
            return layers

        self.model = nn.Sequential(
            *block(2 * z_dim, width, normalize=False), *block(width, width), nn.Linear(width, out_dim), nn.Tanh()
        )

    def forward(self, noise, labels):
        gen_input = torch.cat((self.label_emb(labels), noise), -1)
        return self.model(gen_input)
