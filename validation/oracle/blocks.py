"""What a block of a tower is made of: attention with positions, the convolution before a block, networks of two
layers, and the gated delta rule.

Rotary positions (Su et al. 2021, arXiv 2104.09864) by complex numbers: a pair of a query is a number that is
multiplied by exp(i n omega), n the position in the context, and the score is the real part of a product with a
conjugate. Biases by distance: learned, and ALiBi (Press et al. 2021, arXiv 2108.12409). SwiGLU (Shazeer 2020, arXiv
2002.05202). The gated delta rule (Yang et al. 2024, arXiv 2412.06464) by its transition matrix
rho (I - theta k k^T).
"""

import jax
import jax.numpy as jnp
import numpy as np

from emit import drawer, emit
from rules import K, short_conv, silu, unit
from vector_file import File

D, H, F, W = 8, 2, 2, 3  # width, heads, pairs of a head, window
D_K, D_V, D_H = 4, 3, 7


def attend(q, k, v, tails, pos, bias):
    """One sequence. q, k, v [T, H, d_h]; tails of keys and values [W-1, H, d_h]; bias [H, W] by distance."""
    T, n = q.shape[0], W - 1
    k, v = jnp.concatenate([tails["tail_k"], k]), jnp.concatenate([tails["tail_v"], v])
    age = jnp.arange(T)[:, None] - jnp.arange(-n, T)[None, :]
    seen = (age >= 0) & (age < W) & (jnp.arange(-n, T)[None, :] >= -pos)
    score = jnp.einsum("thi,shi->hts", q, k) / np.sqrt(q.shape[-1]) + jnp.asarray(bias)[:, jnp.clip(age, 0, n)]
    y = jnp.einsum("hts,shi->thi", jax.nn.softmax(jnp.where(seen, score, -jnp.inf), axis=-1), v)
    return {"y": y.reshape(T, -1), "tail_k_T": k[T:], "tail_v_T": v[T:]}


def heads(a):
    return a.reshape(a.shape[0], H, -1)


def rms(x):
    return x / jnp.sqrt(jnp.mean(x * x, axis=-1, keepdims=True) + 1e-6)


def rotary(v, x, tails, pos, normed):
    at = pos + jnp.arange(x.shape[0])
    turn = jnp.exp(1j * at[:, None, None] * 10000.0 ** (-np.arange(F) / F))
    project = lambda w: heads(x @ v[w].T)
    q, k = project("W_Q"), project("W_K")
    if normed:
        q, k = v["gamma_Q"] * rms(q), v["gamma_K"] * rms(k)

    def turned(z):
        z = (z[..., :F] + 1j * z[..., F:]) * turn
        return jnp.concatenate([z.real, z.imag], axis=-1)

    return attend(turned(q), turned(k), project("W_V"), tails, pos, jnp.zeros((H, W)))


def relative(v, x, tails, pos, linear):
    bias = -(2.0 ** (-8 * (1 + np.arange(H)) / H))[:, None] * np.arange(W) if linear else v["b"]
    q, k, values = (heads(x @ v[n].T) for n in ("W_Q", "W_K", "W_V"))
    return attend(q, k, values, tails, pos, bias)


def gated_delta(v, x, M, tails, pos):
    k, tail_k = short_conv(x @ v["W_K"].T, tails["tail_k"], pos, v["c_K"], v["b_K"])
    q, tail_q = short_conv(x @ v["W_Q"].T, tails["tail_q"], pos, v["c_Q"], v["b_Q"])
    k, q, values = unit(k), unit(q), x @ v["W_V"].T
    kv = jnp.concatenate([k, values], axis=-1)
    rho, theta = jax.nn.sigmoid(kv @ v["w_rho"] + v["b_rho"]), jax.nn.sigmoid(kv @ v["w_theta"] + v["b_theta"])

    def step(M, s):
        M = s["rho"] * M @ (jnp.eye(D_K) - s["theta"] * jnp.outer(s["k"], s["k"])) + s["theta"] * jnp.outer(s["v"], s["k"])
        return M, M @ s["q"]

    M, y = jax.lax.scan(step, M, {"k": k, "q": q, "v": values, "rho": rho, "theta": theta})
    return {"y": y, "M_T": M, "tail_k_T": tail_k, "tail_q_T": tail_q}


def channels(v, x, s, pos, momentum):
    """The delta rule and Titans with a gate for each row of the memory; states M and S."""
    k, tail_k = short_conv(x @ v["W_K"].T, s["tail_k"], pos, v["c_K"], v["b_K"])
    q, tail_q = short_conv(x @ v["W_Q"].T, s["tail_q"], pos, v["c_Q"], v["b_Q"])
    k, values = unit(k), x @ v["W_V"].T
    kv = jnp.concatenate([k, values], axis=-1)
    squash = {"rho": jax.nn.sigmoid, "theta": jax.nn.softplus, "eta": jax.nn.sigmoid}
    gates = {n: squash[n](kv @ v["W_" + n].T + v["b_" + n])[:, :, None] for n in (squash if momentum else ("rho", "theta"))}

    def step(c, t):
        pull = t["theta"] * jnp.outer(t["v"] - c["M"] @ t["k"], t["k"])
        S = t["eta"] * c["S"] + pull if momentum else pull
        M = t["rho"] * c["M"] + S
        return {"M": M} | ({"S": S} if momentum else {}), M @ t["q"]

    start = {n: s[n] for n in ("M", "S") if n in s}
    after, y = jax.lax.scan(step, start, {"k": k, "q": unit(q), "v": values} | gates)
    return {"y": y, "tail_k_T": tail_k, "tail_q_T": tail_q} | {n + "_T": m for n, m in after.items()}


def network(v, x, gated):
    h = silu(x @ v["W1"].T) * (x @ v["W3"].T) if gated else jax.nn.gelu(x @ v["W1"].T, approximate=False)
    return {"y": h @ v["W2"].T}


SQUARE = {n: (D, D) for n in ("W_Q", "W_K", "W_V")}
TAILS = {n: (W - 1, H, D // H) for n in ("tail_k", "tail_v")}
DELTA = {"W_K": (D_K, D), "W_Q": (D_K, D), "W_V": (D_V, D), "c_K": (K, D_K), "c_Q": (K, D_K), "b_K": (D_K,), "b_Q": (D_K,),
         "w_rho": (D_K + D_V,), "w_theta": (D_K + D_V,), "b_rho": (), "b_theta": ()}
CHANNELS = {n: s for n, s in DELTA.items() if n[2:] not in ("rho", "theta")} | {
    "W_rho": (D_V, D_K + D_V), "W_theta": (D_V, D_K + D_V), "b_rho": (D_V,), "b_theta": (D_V,)}
ROWS = {"M": (D_V, D_K), "tail_k": (K - 1, D_K), "tail_q": (K - 1, D_K)}
CASES = {
    "rotary": (SQUARE, TAILS, lambda v, x, s, pos: rotary(v, x, s, pos, False)),
    "normed": (SQUARE | {"gamma_Q": (D // H,), "gamma_K": (D // H,)}, TAILS, lambda v, x, s, pos: rotary(v, x, s, pos, True)),
    "learned": (SQUARE | {"b": (H, W)}, TAILS, lambda v, x, s, pos: relative(v, x, s, pos, False)),
    "linear": (SQUARE, TAILS, lambda v, x, s, pos: relative(v, x, s, pos, True)),
    "delta": (DELTA, ROWS, lambda v, x, s, pos: gated_delta(v, x, s["M"], s, pos)),
    "channels": (CHANNELS, ROWS, lambda v, x, s, pos: channels(v, x, s, pos, False)),
    "titans": (CHANNELS | {"W_eta": (D_V, D_K + D_V), "b_eta": (D_V,)}, ROWS | {"S": (D_V, D_K)}, lambda v, x, s, pos: channels(v, x, s, pos, True)),
    "swiglu": ({"W1": (D_H, D), "W3": (D_H, D), "W2": (D, D_H)}, {}, lambda v, x, s, pos: network(v, x, True)),
    "gelu": ({"W1": (D_H, D), "W2": (D, D_H)}, {}, lambda v, x, s, pos: network(v, x, False)),
}


def vectors():
    f = File(f"Parts of blocks: d={D}, {H} heads, window {W}, 2 sequences, float64. Written by validation/oracle/make.py.",
             "loss = sum(w * y) + sum(wX * X); grad.X is its gradient. pos is the position of each sequence before the call.")
    rand = drawer("blocks")
    for name, (shapes, states, run) in CASES.items():
        for T, tail, pos in [(7, "", (1000, 1)), (1, "1", (70000, 3))]:
            prefix = f"{name}{tail}."
            values = {"x": rand(prefix + "x", (2, T, D))} | {n: rand(prefix + n, s) for n, s in shapes.items()}
            values |= {n: rand(prefix + n, (2, *s)) for n, s in states.items()}
            given = {"pos": np.array(pos, np.int64)} if states else {}

            def each(v):
                at = given.get("pos", np.zeros(2, np.int64))
                return jax.vmap(lambda x, s, pos: run(v, x, s, pos))(v["x"], {n: v[n] for n in states}, at)

            emit(f, rand, prefix, f"T={T}", each, values, given)
    return f
