"""Steps of training in PyTorch, to compare whole steps of the emitted code with.

    python validation/bench/torch/step.py serve      requests on standard input, as step.go sends them
    python validation/bench/torch/step.py KIND WIDTH BLOCKS [THREADS]

Needs torch (2.9.1 was used); DEVICE=cuda in the environment computes on a GPU. A step is forward, backward and AdamW over a batch of 8 chunks of 64 bytes; the window
of attention and the state of the memory are carried from chunk to chunk, without gradient. Kinds:

    transformer   N × (x + attention(norm x), x + mlp(norm x)): rotary positions, a window of 64, SiLU
    magchunk      the attention's output is gated by a delta-rule memory in the chunkwise form (Yang et al. 2024):
                  triangular solve and products; no positions
"""
import os
import sys
import time

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_default_device(os.environ.get("DEVICE", "cpu"))
BATCH, CHUNK, WINDOW, HEADS, VOCABULARY = 8, 64, 64, 4, 256


def rotary(x, start):
    n, half = x.shape[-2], x.shape[-1] // 2
    at = torch.arange(start, start + n)[:, None] / 10000 ** (torch.arange(half) / half)
    c, s = at.cos(), at.sin()
    a, b = x[..., :half], x[..., half:]
    return torch.cat([a * c - b * s, a * s + b * c], -1)


class Attention(nn.Module):
    """Attention of a window, without an output projection, as the page SlidingWindow."""

    def __init__(self, d, positions):
        super().__init__()
        self.qkv, self.positions = nn.Linear(d, 3 * d, bias=False), positions
        rows, cols = torch.arange(CHUNK)[:, None], torch.arange(CHUNK + WINDOW - 1)[None] - (WINDOW - 1)
        self.register_buffer("mask", (cols <= rows) & (cols > rows - WINDOW), persistent=False)
        self.window = None

    def forward(self, x):
        b, t, d = x.shape
        q, k, v = self.qkv(x).view(b, t, 3, HEADS, d // HEADS).permute(2, 0, 3, 1, 4)
        if self.window is None:
            self.window = torch.zeros(2, b, HEADS, WINDOW - 1, d // HEADS)
        k, v = torch.cat([self.window[0], k], 2), torch.cat([self.window[1], v], 2)
        self.window = torch.stack([k, v])[:, :, :, t:].detach()
        if self.positions:
            q, k = rotary(q, WINDOW - 1), rotary(k, 0)
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=self.mask)
        return y.transpose(1, 2).reshape(b, t, d)


class Delta(nn.Module):
    """The rule DeltaRule: projections, short convolutions, unit keys, gates, M ← ρ M − θ (M k − v) kᵀ."""

    def __init__(self, d):
        super().__init__()
        self.proj = nn.Linear(d, 3 * d, bias=False)
        self.conv = nn.Conv1d(2 * d, 2 * d, 4, groups=2 * d)
        self.gates = nn.Linear(2 * d, 2)
        with torch.no_grad():
            self.gates.bias.copy_(torch.tensor([3.0, -4.6]))
        self.tail = self.state = None

    def forward(self, x):
        b, t, d = x.shape
        kq, v = self.proj(x).split([2 * d, d], -1)
        if self.tail is None:
            self.tail, self.state = torch.zeros(b, 3, 2 * d), torch.zeros(b, d, d)
        stack = torch.cat([self.tail, kq], 1)
        self.tail = stack[:, t:].detach()
        kq = F.silu(self.conv(stack.transpose(1, 2)).transpose(1, 2))
        k, q = F.normalize(kq[..., :d], dim=-1), F.normalize(kq[..., d:], dim=-1)
        g = self.gates(torch.cat([k, v], -1))
        rho, theta = torch.sigmoid(g[..., 0]), F.softplus(g[..., 1])
        y, m = self.chunk(k, q, v, rho, theta)
        self.state = m.detach()
        return y

    def chunk(self, k, q, v, rho, theta):
        # With c the logarithm of the product of ρ so far, M_t = e^{c_t} (M_0 − Σ_{s≤t} e^{−c_s} θ_s e_s k_sᵀ), and
        # e_t + Σ_{s<t} e^{c_{t−1}−c_s} θ_s (k_s·k_t) e_s = e^{c_{t−1}} M_0 k_t − v_t is a triangular system in e.
        c = torch.log(rho).cumsum(1)
        before = c - torch.log(rho)
        strict = torch.ones(CHUNK, CHUNK).tril(-1).bool()
        decay = torch.exp((before[:, :, None] - c[:, None]).masked_fill(~strict, -torch.inf))
        a = (k @ k.transpose(1, 2)) * decay * theta[:, None]
        m0 = self.state
        right = torch.exp(before)[..., None] * (k @ m0.transpose(1, 2)) - v
        e = torch.linalg.solve_triangular(a + torch.eye(CHUNK), right, upper=False, unitriangular=True)
        upto = torch.exp((c[:, :, None] - c[:, None]).masked_fill(~strict.logical_or(torch.eye(CHUNK).bool()), -torch.inf))
        y = torch.exp(c)[..., None] * (q @ m0.transpose(1, 2)) - ((q @ k.transpose(1, 2)) * upto * theta[:, None]) @ e
        last = torch.exp(c[:, -1:] - c) * theta
        m = torch.exp(c[:, -1])[:, None, None] * m0 - (e * last[..., None]).transpose(1, 2) @ k
        return y, m


class Block(nn.Module):
    def __init__(self, kind, d):
        super().__init__()
        self.norm, self.norm2 = nn.LayerNorm(d), nn.LayerNorm(d)
        self.attention = Attention(d, positions=kind == "transformer")
        self.memory = None if kind == "transformer" else Delta(d)
        self.out = nn.Linear(d, d, bias=False)
        self.up, self.down = nn.Linear(d, 4 * d, bias=False), nn.Linear(4 * d, d, bias=False)

    def forward(self, x):
        z = self.norm(x)
        a = self.attention(z)
        if self.memory is not None:
            a = a * torch.sigmoid(self.memory(z))
        x = x + self.out(a)
        return x + self.down(F.silu(self.up(self.norm2(x))))


class Model(nn.Module):
    def __init__(self, kind, d, blocks):
        super().__init__()
        self.embed = nn.Embedding(VOCABULARY, d)
        self.blocks = nn.ModuleList(Block(kind, d) for _ in range(blocks))
        self.norm, self.head = nn.LayerNorm(d), nn.Linear(d, VOCABULARY, bias=False)

    def forward(self, ids, following):
        x = self.embed(ids)
        for b in self.blocks:
            x = b(x)
        return F.cross_entropy(self.head(self.norm(x)).flatten(0, 1), following.flatten())


class Trainer:
    def __init__(self, kind, d, blocks, threads):
        torch.manual_seed(1)
        self.model, self.threads = Model(kind, d, blocks), threads
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=3e-3, fused=True)
        self.ids = torch.randint(0, VOCABULARY, (BATCH, CHUNK + 1))

    def step(self):
        torch.set_num_threads(self.threads)
        cpu, at = time.process_time_ns(), time.perf_counter_ns()
        loss = self.model(self.ids[:, :-1], self.ids[:, 1:])
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        value = loss.item()  # waits for a GPU
        return time.process_time_ns() - cpu, time.perf_counter_ns() - at, value


def serve():
    trainers = []
    for line in sys.stdin:
        word, *rest = line.split()
        if word == "new":
            trainers.append(Trainer(rest[0], *map(int, rest[1:])))
            print(sum(p.numel() for p in trainers[-1].model.parameters()), flush=True)
        else:
            for _ in range(int(rest[1])):
                trainers[int(rest[0])].step()
            print(*trainers[int(rest[0])].step(), flush=True)


def main():
    if sys.argv[1] == "serve":
        return serve()
    kind, numbers = sys.argv[1], [int(a) for a in sys.argv[2:]]
    t = Trainer(kind, numbers[0], numbers[1], numbers[2] if len(numbers) > 2 else 1)
    times = sorted(t.step()[1] for _ in range(40))
    print(f"{kind} width {numbers[0]}, {numbers[1]} blocks: least {times[0] / 1e6:.2f} ms, median {times[20] / 1e6:.2f} ms,"
          f" {BATCH * CHUNK / times[20] * 1e9:.0f} tokens/s")


if __name__ == "__main__":
    main()
