"""ESPCN-like super-resolution with sub-pixel convolution, a perceptual-free composite loss, PSNR and SSIM by hand."""
import argparse
from math import log10

import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.nn.init as init
from torch.utils.data import DataLoader, Dataset

parser = argparse.ArgumentParser(description="Super Res")
parser.add_argument("--upscale_factor", type=int, default=3, help="super resolution upscale factor")
parser.add_argument("--batchSize", type=int, default=8)
parser.add_argument("--testBatchSize", type=int, default=4)
parser.add_argument("--nEpochs", type=int, default=2)
parser.add_argument("--lr", type=float, default=0.01)
parser.add_argument("--seed", type=int, default=123)
opt = parser.parse_args()
torch.manual_seed(opt.seed)


class Patches(Dataset):
    def __init__(self, n, factor, size=18):
        super().__init__()
        yy, xx = torch.meshgrid(torch.linspace(0, 3, size), torch.linspace(0, 3, size), indexing="ij")
        shifts = torch.rand(n, 2) * 3
        self.high = torch.stack([(torch.sin(xx * (1 + a)) * torch.cos(yy * (1 + b)) + 1) / 2 for a, b in shifts]).unsqueeze(1)
        self.low = F.interpolate(self.high, scale_factor=1 / factor, mode="area")

    def __getitem__(self, index):
        return self.low[index], self.high[index]

    def __len__(self):
        return self.high.shape[0]


class Net(nn.Module):
    def __init__(self, upscale_factor):
        super(Net, self).__init__()
        self.relu = nn.ReLU()
        self.conv1 = nn.Conv2d(1, 16, (5, 5), (1, 1), (2, 2))
        self.conv2 = nn.Conv2d(16, 16, (3, 3), (1, 1), (1, 1))
        self.conv3 = nn.Conv2d(16, upscale_factor ** 2, (3, 3), (1, 1), (1, 1))
        self.pixel_shuffle = nn.PixelShuffle(upscale_factor)
        self._initialize_weights()

    def forward(self, x):
        x = self.relu(self.conv1(x))
        x = self.relu(self.conv2(x))
        x = self.pixel_shuffle(self.conv3(x))
        return x

    def _initialize_weights(self):
        init.orthogonal_(self.conv1.weight, init.calculate_gain("relu"))
        init.orthogonal_(self.conv2.weight, init.calculate_gain("relu"))
        init.orthogonal_(self.conv3.weight)


def gaussian_window(size=5, sigma=1.5, channels=1):
    coords = torch.arange(size, dtype=torch.float32) - size // 2
    g = torch.exp(-(coords ** 2) / (2 * sigma ** 2))
    g = g / g.sum()
    return (g[:, None] @ g[None, :]).expand(channels, 1, size, size).contiguous()


def ssim(a, b, window, c1=0.01 ** 2, c2=0.03 ** 2):
    pad = window.shape[-1] // 2
    channels = a.shape[1]
    mu_a = F.conv2d(a, window, padding=pad, groups=channels)
    mu_b = F.conv2d(b, window, padding=pad, groups=channels)
    var_a = F.conv2d(a * a, window, padding=pad, groups=channels) - mu_a ** 2
    var_b = F.conv2d(b * b, window, padding=pad, groups=channels) - mu_b ** 2
    cov = F.conv2d(a * b, window, padding=pad, groups=channels) - mu_a * mu_b
    return (((2 * mu_a * mu_b + c1) * (2 * cov + c2)) / ((mu_a ** 2 + mu_b ** 2 + c1) * (var_a + var_b + c2))).mean()


def total_variation(x):
    dh = (x[:, :, 1:, :] - x[:, :, :-1, :]).abs().mean()
    dw = (x[:, :, :, 1:] - x[:, :, :, :-1]).abs().mean()
    return dh + dw


training_data_loader = DataLoader(dataset=Patches(48, opt.upscale_factor), batch_size=opt.batchSize, shuffle=True)
testing_data_loader = DataLoader(dataset=Patches(8, opt.upscale_factor), batch_size=opt.testBatchSize, shuffle=False)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = Net(upscale_factor=opt.upscale_factor).to(device)
criterion = nn.MSELoss()
optimizer = torch.optim.Adam(model.parameters(), lr=opt.lr)
window = gaussian_window().to(device)


def train(epoch):
    epoch_loss = 0
    for iteration, batch in enumerate(training_data_loader, 1):
        input, target = batch[0].to(device), batch[1].to(device)
        optimizer.zero_grad()
        output = model(input)
        loss = criterion(output, target) + 0.1 * (1 - ssim(output, target, window)) + 1e-3 * total_variation(output)
        epoch_loss += loss.item()
        loss.backward()
        optimizer.step()
    print("===> Epoch {} Complete: Avg. Loss: {:.4f}".format(epoch, epoch_loss / len(training_data_loader)))


def test():
    avg_psnr = 0
    with torch.no_grad():
        for batch in testing_data_loader:
            input, target = batch[0].to(device), batch[1].to(device)
            prediction = model(input)
            mse = criterion(prediction, target)
            psnr = 10 * log10(1 / mse.item())
            avg_psnr += psnr
    print("===> Avg. PSNR: {:.4f} dB".format(avg_psnr / len(testing_data_loader)))


for epoch in range(1, opt.nEpochs + 1):
    train(epoch)
    test()
