"""Updates as their authors publish them: Muon by torch.optim itself, AdaMuon and M3 written anew from the
algorithms. Float64, two shapes, seven steps at a constant rate."""

import math

import numpy as np
import torch

import streams
from vector_file import File

LR, DECAY, STEPS = 0.02, 0.1, 7
A, B, C = 3.4445, -4.7750, 2.0315
torch.set_num_threads(1)


def newton_schulz(x, eps):
    """Five rounds; a tall matrix is worked on transposed."""
    if x.shape[0] > x.shape[1]:
        return newton_schulz(x.T, eps).T
    x = x / (x.norm() + eps)
    for _ in range(5):
        gram = x @ x.T
        x = A * x + (B * gram + C * gram @ gram) @ x
    return x


class Muon:
    """torch.optim.Muon; it rounds to bfloat16 by a method, which is replaced by a copy."""

    state = ["m"]

    def __init__(self, w):
        self.w = torch.nn.Parameter(w.clone())
        self.update = torch.optim.Muon([self.w], lr=LR, weight_decay=DECAY, adjust_lr_fn="match_rms_adamw")

    def step(self, g, n):
        self.w.grad = g.clone()
        rounds, torch.Tensor.bfloat16 = torch.Tensor.bfloat16, torch.Tensor.clone
        try:
            self.update.step()
        finally:
            torch.Tensor.bfloat16 = rounds
        return self.w.detach(), {"m": self.update.state[self.w]["momentum_buffer"]}


class AdaMuon:
    """The authors' second version: a sum as momentum, looked ahead, its signs made orthogonal, one beta, no
    correction, and the size last. m is the sum times 1 - beta, which has the same signs."""

    state, beta, eps = ["m", "v"], 0.95, 1e-8

    def __init__(self, w):
        self.w, self.buffer, self.v = w, torch.zeros_like(w), torch.zeros_like(w)

    def step(self, g, n):
        self.buffer = self.beta * self.buffer + g
        o = newton_schulz(torch.sign(g + self.beta * self.buffer), 1e-7)
        self.v = self.beta * self.v + (1 - self.beta) * o * o
        z = o / (self.v.sqrt() + self.eps)
        z = z * (0.2 * math.sqrt(z.numel()) / (z.norm() + self.eps))
        self.w = self.w * (1 - LR * DECAY) - LR * z
        return self.w, {"m": self.buffer * (1 - self.beta), "v": self.v}


class M3:
    """Algorithm 1 of Nested Learning: sums, the slow momentum from the window before, squares of the gradient;
    epsilon outside of the root, f gradients to a window, and the decay of the others."""

    state, f, alpha, betas, eps = ["m", "s", "v", "b"], 3, 0.5, (0.9, 0.999, 0.9), 1e-8

    def __init__(self, w):
        self.w, self.fast, self.slow, self.v, self.window = w, 0 * w, 0 * w, 0 * w, []

    def step(self, g, n):
        if n > 1 and (n - 1) % self.f == 0:
            self.slow = self.slow + self.betas[2] * sum(self.window)
            self.window = []
        self.window.append(g)
        self.fast = self.fast + self.betas[0] * g
        self.v = self.v + self.betas[1] * g * g
        step = (newton_schulz(self.fast, 1e-7) + self.alpha * newton_schulz(self.slow, 1e-7)) / (self.v.sqrt() + self.eps)
        self.w = self.w * (1 - LR * DECAY) - LR * step
        return self.w, {"m": self.fast, "s": self.slow, "v": self.v, "b": sum(self.window)}


def vectors():
    f = File("Updates as published, w [3, 4] and [5, 2] (tall), float64. Written by validation/oracle/make.py with torch.",
             "g.N is the gradient of step N, counted from 1; X.N the state after it. The rate is constant.")
    for name, machine in (("muon", Muon), ("adamuon", AdaMuon), ("m3", M3)):
        for prefix, shape in ((name + ".", (3, 4)), (name + "_tall.", (5, 2))):
            rand = lambda n: streams.uniform(f"published.{prefix}{n}", 1, shape, -1, 1)
            w = rand("w.0")
            made = machine(torch.from_numpy(w.copy()))
            f.add(prefix + "w.0", w, machine.__doc__.split(";")[0].split(":")[0])
            f.add_all(prefix, {f"{s}.0": np.zeros(shape) for s in machine.state})
            f.add_all(prefix, {"lr": np.float64(LR), "lambda": np.float64(DECAY)})
            for n in range(1, STEPS + 1):
                g = rand(f"g.{n}")
                w, state = made.step(torch.from_numpy(g.copy()), n)
                f.add(f"{prefix}g.{n}", g)
                f.add(f"{prefix}w.{n}", w.numpy().copy())
                f.add_all(prefix, {f"{s}.{n}": v.numpy().copy() for s, v in state.items()})
    return f
