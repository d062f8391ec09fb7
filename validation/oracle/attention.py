"""Sliding-window and full causal attention, one sequence; math.md section 9."""

import jax
import jax.numpy as jnp
import numpy as np

import streams
from vector_file import File


def attention(p, x, ctx, heads, window):
    """Attention of x [T, d] over the persistent tokens, the tail and x itself.

    Token t sees every persistent token (rows of p["P"], if there are any), and
    the positions s of its context with t - window < s <= t. window None means
    all positions of this call and no tail. Head h owns the columns
    h*d_h … (h+1)*d_h - 1. ctx holds tail_k and tail_v [window-1, d], projected
    keys and values of the positions just before the call, oldest first, of
    which the last min(pos, window-1) are present. Returns [T, d] and the
    context after the call.
    """
    T, d = x.shape
    d_h = d // heads
    q, k, v = (x @ p[n].T for n in ("W_Q", "W_K", "W_V"))
    t = jnp.arange(T)[:, None]
    s = jnp.arange(T)[None, :]
    after = {}
    if window is None:
        mask = s <= t
    else:
        n = window - 1
        k, v = jnp.concatenate([ctx["tail_k"], k]), jnp.concatenate([ctx["tail_v"], v])
        s = jnp.arange(-n, T)[None, :]
        mask = (s <= t) & (s > t - window) & (s >= -jnp.minimum(ctx["pos"], n))
        present = (jnp.arange(-n, 0) >= -(ctx["pos"] + T))[:, None]  # absent rows are stored as zero
        after = {"tail_k": jnp.where(present, k[T:], 0), "tail_v": jnp.where(present, v[T:], 0),
                 "pos": ctx["pos"] + T}
    if "P" in p:
        k, v = jnp.concatenate([p["P"] @ p["W_K"].T, k]), jnp.concatenate([p["P"] @ p["W_V"].T, v])
        mask = jnp.concatenate([jnp.ones((T, p["P"].shape[0]), bool), mask], axis=1)

    def head(q, k, v):
        score = (q @ k.T) / jnp.sqrt(jnp.asarray(d_h, q.dtype))
        return jax.nn.softmax(jnp.where(mask, score, -jnp.inf), axis=-1) @ v

    split = lambda a: a.reshape(a.shape[0], heads, d_h).transpose(1, 0, 2)
    out = jax.vmap(head)(split(q), split(k), split(v))
    return out.transpose(1, 0, 2).reshape(T, d), after


# prefix, T, window (None: full), persistent tokens, pos per sequence, what it tests
CASES = [
    ("case0.", 7, 3, 2, [100, 100], "w=3, two persistent tokens, a whole tail"),
    ("case1.", 1, 3, 2, [100, 100], "T=1"),
    ("case2.", 7, 12, 2, [100, 3], "w larger than T; sequence 0 sees the whole tail, sequence 1 three rows of it"),
    ("case3.", 7, 3, 0, [0, 1], "no persistent tokens; young contexts: no tail row, one tail row"),
    ("case4.", 7, 1, 0, [0, 5], "w=1: each token sees itself alone, there is no tail"),
    ("full0.", 7, None, 2, [0, 0], "full causal, two persistent tokens"),
    ("full1.", 7, None, 0, [0, 0], "full causal"),
]


def vectors():
    d, heads, L = 6, 2, 2
    f = File(
        "Attention: d=6, H=2, 2 sequences, float64. Written by validation/oracle/make.py.",
        "loss = sum(w * y); grad.X is its gradient. grad.tail_k and grad.tail_v are the",
        "adjoints at the edge of the call, where a model cuts them. window 0: full causal.",
    )
    for prefix, T, window, n_p, pos, about in CASES:
        rand = lambda n, shape: streams.uniform(f"attention.{prefix}{n}", 1, shape, -1, 1)
        p = {n: rand(n, (d, d)) for n in ("W_Q", "W_K", "W_V")}
        if n_p:
            p["P"] = rand("P", (n_p, d))
        x, w = rand("x", (L, T, d)), rand("w", (L, T, d))
        pos = np.array(pos, np.int64)
        ctx = {}
        if window is not None:
            ctx = {n: rand(n, (L, window - 1, d)) for n in ("tail_k", "tail_v")}

        @jax.jit
        def run(p, x, ctx):
            one = lambda x, ctx, pos: attention(p, x, {**ctx, "pos": pos}, heads, window)
            y, after = jax.vmap(one)(x, ctx, pos)
            return jnp.sum(w * y), (y, after)

        (loss, (y, after)), (gp, gx, gctx) = jax.value_and_grad(run, (0, 1, 2), has_aux=True)(p, x, ctx)
        f.add(prefix + "x", x, about)
        f.add(prefix + "heads", np.int64(heads))
        f.add(prefix + "window", np.int64(window or 0))
        if window is not None:
            f.add(prefix + "pos", pos)
        f.add_all(prefix, p)
        f.add_all(prefix, ctx)
        f.add(prefix + "w", w)
        f.add(prefix + "out.y", y)
        f.add_all(prefix + "out.", {n + "_T": v for n, v in after.items()})
        f.add(prefix + "loss", loss)
        f.add(prefix + "grad.x", gx)
        f.add_all(prefix + "grad.", gp)
        f.add_all(prefix + "grad.", gctx)
    return f
