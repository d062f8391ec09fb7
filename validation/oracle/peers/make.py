#!/usr/bin/env python3
"""Rewrites validation/oracle/vectors/peers.txt: numbers that other people's code computes. With --check, writes nothing and compares.

    pip install -r requirements.txt && pip install --no-deps -r without_dependencies.txt
    python3 validation/oracle/peers/make.py [--check]

The recurrences are the reference implementations of flash-linear-attention, in PyTorch: the delta rule, the gated and the
momentum delta rule, gated linear attention, Comba, and the transition of RWKV-7. The memory of titans-pytorch runs as its whole
module, a chunk and a batch being one token. Attention in a window, the short convolution and AdamW
are PyTorch's own. Their files are executed as they are installed, without the packages around them, which need a GPU; they compute in
float32, and here what they convert to that stays float64. Gradients are PyTorch's.
"""

import importlib.util
import pathlib
import sys
import types

import numpy as np
import torch
import torch.nn.functional as F

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE.parent))
import streams  # noqa: E402
from vector_file import File, parse  # noqa: E402

torch.set_num_threads(1)
torch.set_default_dtype(torch.float64)
L, T, D_K, D_V, D_H, K, H, W = 2, 7, 4, 3, 6, 4, 2, 3
D = D_K  # their memories answer as wide as they are asked
TOLERANCE = 1e-11  # another processor may round the last bit of a sum otherwise


class Doubled:
    """torch, with float64 in the place of float32."""

    float32 = float = torch.float64

    def __getattr__(self, name):
        return getattr(torch, name)


def peer(path):
    """A file of fla-core as a module."""
    root = pathlib.Path(importlib.util.find_spec("fla").submodule_search_locations[0])
    spec = importlib.util.spec_from_file_location(path.replace("/", "_"), root / "ops" / path / "naive.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.torch = Doubled()
    return module


torch.Tensor.float = lambda self: self


def one_head(f, M, axis=2, **streams):
    """A recurrence of theirs for one head, whose axis stands behind the tokens or before them. They keep states as [d_k, d_v], and
    scale queries by the root of d_k, which is undone."""
    args = {name: a.unsqueeze(axis) for name, a in streams.items()}
    args["q"] = args["q"] * D_K**0.5
    o, S = f(**args, initial_state=M.transpose(-1, -2)[:, None], output_final_state=True)
    return {"y": o.squeeze(axis), "M_T": S[:, 0].transpose(-1, -2)}


def delta(v):
    f = peer("delta_rule").delta_rule_recurrence
    return one_head(f, v["M"], axis=1, q=v["q"], k=v["k"], v=v["v"], beta=v["theta"])


def gated_delta(v):
    f = peer("gated_delta_rule").naive_recurrent_gated_delta_rule
    return one_head(f, v["M"], q=v["q"], k=v["k"], v=v["v"], beta=v["theta"], g=torch.log(v["rho"]))


def momentum(v):
    """Their momentum is minus ours."""
    f = peer("momentum_delta_rule").recurrent_momentum_delta_rule_ref
    head = lambda a: a[:, :, None]
    turned = lambda a: a.transpose(-1, -2)[:, None]
    o, states = f(q=head(v["q"] * D_K**0.5), k=head(v["k"]), v=head(v["v"]), p=head(v["k"]), log_alpha=head(torch.log(v["rho"])),
                  log_mu=head(torch.log(v["eta"])), beta=head(torch.ones_like(v["rho"])), eta=head(v["theta"]),
                  initial_S=turned(v["M"]), initial_M=-turned(v["S"]), output_final_state=True)
    return {"y": o[:, :, 0], "M_T": states[0][:, 0].transpose(-1, -2), "S_T": -states[1][:, 0].transpose(-1, -2)}


def linear(v):
    f = peer("gla").naive_recurrent_gla
    return one_head(f, v["M"], q=v["q"], k=v["k"], v=v["v"], gk=torch.log(v["a"]))


def comba(v):
    f = peer("comba").naive_recurrent_comba
    return one_head(f, v["M"], q=v["q"], k=v["k"], v=v["v"], p=v["p"], beta=v["theta"], g=torch.log(v["rho"]))


def removal(v):
    """RWKV-7's transition, diag(a) + alpha betaᵀ: what is taken away along k b has alpha = −k."""
    f = peer("generalized_delta_rule/dplr").dplr_recurrence
    return one_head(f, v["M"], axis=1, q=v["q"], k=v["w_key"], v=v["v"], alpha=-v["k"], beta=v["b"], gk=torch.log(v["a"]))


def convolution(v):
    """Tap 0 is the present token, which is the last one of PyTorch's kernel."""
    u = F.pad(v["u"].transpose(1, 2), (K - 1, 0))
    return {"y": F.silu(F.conv1d(u, v["c"].flip(0).T[:, None], v["b"], groups=v["u"].shape[-1])).transpose(1, 2)}


def windowed(v):
    heads = lambda a: a.reshape(L, -1, H, D_K // H).transpose(1, 2)
    q, k, val = (heads(v["x"] @ v["W_" + n].T) for n in "QKV")
    age = torch.arange(T)[:, None] - torch.arange(T)[None, :]
    y = F.scaled_dot_product_attention(q, k, val, attn_mask=(age >= 0) & (age < W))
    return {"y": y.transpose(1, 2).reshape(L, T, D_K)}


# titans-pytorch: a whole module, whose parameters are ours. Its gates are linear in the token, and so are ours without a
# convolution, whose gates are linear in the key and the value.


def titans_pytorch(name):
    """A file of titans-pytorch as a module."""
    if "titans_pytorch" not in sys.modules:
        package = types.ModuleType("titans_pytorch")  # without its __init__, which imports a transformer
        package.__path__ = list(importlib.util.find_spec("titans_pytorch").submodule_search_locations)
        sys.modules["titans_pytorch"] = package
    return importlib.import_module("titans_pytorch." + name)


class Beside(torch.nn.Module):
    """A network added to what it is given."""

    def __init__(self, inner):
        super().__init__()
        self.inner = inner

    def forward(self, x):
        return x + self.inner(x)


def titans(v, model, weights):
    """Their memory with a model of our weights: names of ours by names of theirs. They keep weights transposed, and a decay of one
    minus ours."""
    their = titans_pytorch("neural_memory")
    memory = their.NeuralMemory(D_K, chunk_size=1, batch_size=1, model=model, pre_rmsnorm=False, mem_model_norm_add_residual=False,
                                store_memory_loss_fn=lambda y, v: ((y - v) ** 2).sum(-1), adaptive_step_transform=F.softplus)
    both = torch.cat([v["W_K"], v["W_V"]])
    gates = {"to_adaptive_step": (v["w_theta"], v["b_theta"]), "to_momentum": (v["w_eta"], v["b_eta"]), "to_decay_factor": (-v["w_rho"], -v["b_rho"])}
    given = {f"to_{n}.weight": v["W_" + a] for n, a in (("queries", "Q"), ("keys", "K"), ("values", "V"))}
    for n, (w, b) in gates.items():
        given |= {n + ".0.weight": (w @ both)[None], n + ".0.bias": b[None]}
    turned = lambda a: a.transpose(-1, -2)
    W = their.TensorDict({theirs: turned(v[ours]) for theirs, ours in weights.items()})
    S = their.TensorDict({theirs: turned(v["S_" + ours])[None] for theirs, ours in weights.items()})
    y, state = torch.func.functional_call(memory, given, (v["x"],), {"state": their.NeuralMemState(0, W, None, (W, S), None)})
    out = {"y": y}
    for theirs, ours in weights.items():
        out |= {ours + "_T": turned(state.states[0][theirs]), "S_" + ours + "_T": turned(state.states[1][theirs][0])}
    return out


def titans_matrix(v):
    return titans(v, titans_pytorch("memory_models").MemoryMLP(D_K, depth=1), {"weights.0": "M"})


def titans_deep(v):
    mlp = titans_pytorch("memory_models").MemoryMLP(D_K, depth=2, expansion_factor=D_H / D_K)
    return titans(v, Beside(mlp), {"inner.weights.0": "W1", "inner.weights.1": "W2"})


QKV = {"q": (L, T, D_K), "k": (L, T, D_K), "v": (L, T, D_V), "M": (L, D_V, D_K)}
GATE, KEY = (L, T), (L, T, D_K)
GATES = ("rho", "theta", "eta")
MODULE = {"x": (L, T, D)} | {"W_" + n: (D, D) for n in "QKV"} | {"w_" + g: (2 * D,) for g in GATES} | {"b_" + g: () for g in GATES}
CASES = {
    "delta": (delta, QKV | {"theta": GATE}),
    "gated": (gated_delta, QKV | {"rho": GATE, "theta": GATE}),
    "momentum": (momentum, QKV | {"S": (L, D_V, D_K), "rho": GATE, "theta": GATE, "eta": GATE}),
    "linear": (linear, QKV | {"a": KEY}),
    "comba": (comba, QKV | {"p": KEY, "rho": GATE, "theta": GATE}),
    "removal": (removal, QKV | {"w_key": KEY, "b": KEY, "a": KEY}),
    "titans": (titans_matrix, MODULE | {"M": (L, D, D), "S_M": (L, D, D)}),
    "titans_deep": (titans_deep, MODULE | {n + w: s for n in ("", "S_") for w, s in (("W1", (L, D_H, D)), ("W2", (L, D, D_H)))}),
    "conv": (convolution, {"u": (L, T, D_K), "c": (K, D_K), "b": (D_K,)}),
    "window": (windowed, {"x": (L, T, D_K)} | {"W_" + n: (D_K, D_K) for n in "QKV"}),
}
POSITIVE = ("rho", "eta", "a")  # their logarithm is what the peers take


def vectors():
    f = File(f"What other people's code computes: d_k={D_K}, d_v={D_V}, {L} sequences, {T} tokens, float64. Written by validation/oracle/peers/make.py.",
             "loss = sum(w * y) + sum(wX * X); grad.X is its gradient.")
    for name, (run, shapes) in CASES.items():
        draw = lambda n, shape, lo=-1.0: streams.uniform(f"peers.{name}.{n}", 1, shape, lo, 1.0)
        values = {n: draw(n, s, 0.1 if n in POSITIVE else -1.0) for n, s in shapes.items()}
        tensors = {n: torch.from_numpy(v.copy()).requires_grad_() for n, v in values.items()}
        out = run(tensors)
        weights = {("w" if n == "y" else "w" + n): draw("w" if n == "y" else "w" + n, tuple(x.shape)) for n, x in out.items()}
        loss = sum((torch.from_numpy(weights["w" if n == "y" else "w" + n]) * x).sum() for n, x in out.items())
        loss.backward()
        f.add_all(name + ".", values | weights)
        f.add_all(name + ".out.", {n: x.detach().numpy().copy() for n, x in out.items()})
        f.add(name + ".loss", np.float64(loss.item()))
        f.add_all(name + ".grad.", {n: t.grad.numpy().copy() for n, t in tensors.items()})
    adamw(f)
    return f


def adamw(f):
    """torch.optim.AdamW, seven steps."""
    w = torch.nn.Parameter(torch.from_numpy(streams.uniform("peers.adamw.w.0", 1, (12,), -1, 1).copy()))
    update = torch.optim.AdamW([w], lr=0.02, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.1)
    f.add("adamw.w.0", w.detach().numpy().copy())
    for n in range(1, 8):
        g = streams.uniform(f"peers.adamw.g.{n}", 1, (12,), -1, 1)
        w.grad = torch.from_numpy(g.copy())
        update.step()
        f.add(f"adamw.g.{n}", g)
        f.add(f"adamw.w.{n}", w.detach().numpy().copy())
        f.add(f"adamw.m.{n}", update.state[w]["exp_avg"].numpy().copy())
        f.add(f"adamw.s.{n}", update.state[w]["exp_avg_sq"].numpy().copy())


def main():
    path, f = HERE.parent / "vectors" / "peers.txt", vectors()
    if "--check" not in sys.argv:
        path.write_text(f.text())
        return
    old = parse(path.read_text())
    for name, (_, array, _) in f.tensors.items():
        if name not in old or not np.allclose(old[name], array, rtol=TOLERANCE, atol=TOLERANCE):
            sys.exit(f"peers: {name} differs")


if __name__ == "__main__":
    main()
