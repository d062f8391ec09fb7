"""Byte models in plain PyTorch that the project's models are compared with: a transformer, and the
same with a gated delta rule beside the attention of each layer.

A layer is x + mix(norm(x)), then x + mlp(norm(x)), with RMS norms. Attention has rotary positions
(base 10000) and a sliding window: a token sees itself and the window - 1 tokens before it. What a
chunk needs of the tokens before it is carried, without gradient: keys and values of window - 1
tokens, and the state of the memory.
"""

import math

import torch
import torch.nn.functional as F
from torch import nn


class RMSNorm(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(d))

    def forward(self, x):
        return F.rms_norm(x, self.scale.shape, self.scale, 1e-6)


def rotary(n, width):
    """The cosines and sines of positions 0 … n-1."""
    angle = torch.arange(n)[:, None] * 10000.0 ** (-torch.arange(0, width, 2) / width)
    return angle.cos(), angle.sin()


def rotate(x, cos, sin):
    a, b = x.chunk(2, -1)
    return torch.cat((a * cos - b * sin, a * sin + b * cos), -1)


class Attention(nn.Module):
    """q, k, v [batch, heads, tokens, width of a head]; a tail is (k, v) of the tokens before, not rotated."""

    def __init__(self, d, heads, window, chunk):
        super().__init__()
        self.heads, self.tail = heads, window - 1
        self.qkv = nn.Linear(d, 3 * d)
        cos, sin = rotary(self.tail + chunk, d // heads)
        self.register_buffer("cos", cos, persistent=False)
        self.register_buffer("sin", sin, persistent=False)

    def forward(self, x, tail, mask):
        b, t, d = x.shape
        q, k, v = self.qkv(x).view(b, t, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        k, v = torch.cat((tail[0], k), 2), torch.cat((tail[1], v), 2)
        at = self.tail
        y = F.scaled_dot_product_attention(rotate(q, self.cos[at:at + t], self.sin[at:at + t]),
                                           rotate(k, self.cos[:at + t], self.sin[:at + t]), v, mask)
        return y.transpose(1, 2).reshape(b, t, d), (k[:, :, t:].detach(), v[:, :, t:].detach())

    def start(self, b, d):
        zero = torch.zeros(b, self.heads, self.tail, d // self.heads)
        return zero, zero


def chunked_delta(q, k, v, decay, beta, state):
    """M_t = a_t M_{t-1} (1 - b_t k_t k_tᵀ) + b_t v_t k_tᵀ, y_t = M_t q_t, for a whole chunk: the
    errors of its tokens solve a triangular system. decay is log a_t; state [batch, heads, k, v] is Mᵀ."""
    g = decay.cumsum(-1)
    t = g.shape[-1]
    lower = torch.ones(t, t, dtype=torch.bool).tril()
    ratio = (g[..., :, None] - g[..., None, :]).masked_fill(~lower, -math.inf).exp()
    seen = k @ k.mT * ratio * beta[..., None]
    system = torch.eye(t) + seen.tril(-1)
    errors = torch.linalg.solve_triangular(system, beta[..., None] * (v - g.exp()[..., None] * (k @ state)), upper=False, unitriangular=True)
    y = g.exp()[..., None] * (q @ state) + (q @ k.mT * ratio) @ errors
    last = g[..., -1:, None]
    return y, last.exp() * state + ((last.squeeze(-1) - g).exp()[..., None] * k).mT @ errors


def library_delta(q, k, v, decay, beta, state):
    """The same by flash-linear-attention, its reference in torch: its kernels need Triton and a GPU."""
    from fla.ops.gated_delta_rule.naive import naive_chunk_gated_delta_rule
    over = lambda x: x.transpose(1, 2)
    y, state = naive_chunk_gated_delta_rule(over(q), over(k), over(v), over(decay), over(beta), chunk_size=q.shape[2],
                                            scale=1.0, initial_state=state, output_final_state=True)
    return over(y), state


class Memory(nn.Module):
    """A gated delta rule (Yang et al. 2024): unit keys and queries, a decay and a rate for each token and head."""

    FORGOTTEN = -30.0  # log decay at the start of a text

    def __init__(self, d, heads, rule):
        super().__init__()
        self.heads, self.rule = heads, rule
        self.qkv = nn.Linear(d, 3 * d, bias=False)
        self.gates = nn.Linear(d, 2 * heads)

    def forward(self, x, state, first):
        b, t, d = x.shape
        q, k, v = self.qkv(x).view(b, t, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        decay, beta = self.gates(x).view(b, t, 2, self.heads).permute(2, 0, 3, 1)
        decay = F.logsigmoid(decay + 4).masked_fill(first[:, None], self.FORGOTTEN)
        y, state = self.rule(F.normalize(F.silu(q), dim=-1), F.normalize(F.silu(k), dim=-1), v, decay, beta.sigmoid(), state)
        return y.transpose(1, 2).reshape(b, t, d), state.detach()

    def start(self, b, d):
        return torch.zeros(b, self.heads, d // self.heads, d // self.heads)


class Layer(nn.Module):
    def __init__(self, d, heads, window, chunk, hidden, rule):
        super().__init__()
        self.before, self.between = RMSNorm(d), RMSNorm(d)
        self.attention = Attention(d, heads, window, chunk)
        self.memory = Memory(d, heads, rule) if rule else None
        self.out = nn.Linear(d, d, bias=False)
        self.up, self.down = nn.Linear(d, hidden, bias=False), nn.Linear(hidden, d, bias=False)

    def forward(self, x, carried, mask, first):
        h = self.before(x)
        y, tail = self.attention(h, carried[0], mask)
        state = carried[1]
        if self.memory:
            read, state = self.memory(h, state, first)
            y = y * read.sigmoid()
        x = x + self.out(y)
        return x + self.down(F.gelu(self.up(self.between(x)))), (tail, state)

    def start(self, b, d):
        return self.attention.start(b, d), self.memory.start(b, d) if self.memory else None


EMBEDDING = 0.2  # deviation of tied embeddings at the start; of 0.02, 0.1, 0.2, 0.3, 0.4 and 1 the best after 800 updates
RULES = {"transformer": None, "mag": chunked_delta, "mag of fla": library_delta}


class ByteModel(nn.Module):
    """Logits of the next byte, [batch, tokens, 256]."""

    def __init__(self, model, layers, width, heads, hidden, tied, window, chunk):
        super().__init__()
        self.width, self.window = width, window
        self.embed = nn.Embedding(256, width)
        self.layers = nn.ModuleList(Layer(width, heads, window, chunk, hidden, RULES[model]) for _ in range(layers))
        self.after = RMSNorm(width)
        self.head = nn.Linear(width, 256, bias=False)
        for name, p in self.named_parameters():
            if p.ndim == 2:
                nn.init.normal_(p, std=p.shape[1] ** -0.5)
            if name.endswith(("out.weight", "down.weight")):
                p.data /= math.sqrt(2 * layers)
        nn.init.normal_(self.embed.weight, std=EMBEDDING if tied else 1.0)
        if tied:
            self.head.weight = self.embed.weight

    def start(self, batch):
        """The context of texts that begin: nothing carried, and no text at the places before."""
        return [l.start(batch, self.width) for l in self.layers], torch.full((batch, self.window - 1), -1)

    def forward(self, ids, text, context):
        """text numbers the text of each token: tokens of another text are not seen."""
        carried, before = context
        t = ids.shape[1]
        texts = torch.cat((before, text), 1)
        back = torch.arange(t)[:, None] + self.window - 1 - torch.arange(texts.shape[1])
        mask = ((back >= 0) & (back < self.window)) & (text[:, :, None] == texts[:, None])
        first = text != texts[:, -t - 1:-1]
        x, after = self.embed(ids), []
        for layer, c in zip(self.layers, carried):
            x, c = layer(x, c, mask[:, None], first)
            after.append(c)
        return self.head(self.after(x)), (after, texts[:, t:])
