"""ZeroB as who builds it in JAX would write it: a delta-rule memory that gates
sliding-window attention over bytes, float32, lanes side by side. One build step is
forward, backward and AdamW in one jitted function, the context carried from call to
call and constant for the gradient. The recurrence is a lax.scan over tokens. The
equations are those of specs/models/byte_lm.md and of the pages that it names.
"""

import functools

import jax
import jax.numpy as jnp

TAPS = 4


def shapes(d, V):
    """Of the parameters, by name."""
    s = {"E": (V, d), "H": (V, d), "W_O": (d, d)}
    s |= {f"{of}.{n}": (d, d) for of in ("attention", "memory") for n in ("W_K", "W_Q", "W_V")}
    s |= {f"memory.c_{n}": (TAPS, d) for n in "KQ"} | {f"memory.b_{n}": (d,) for n in "KQ"}
    return s | {f"memory.w_{n}": (2 * d,) for n in ("rho", "theta")} | {f"memory.b_{n}": () for n in ("rho", "theta")}


def fresh(lanes, d, window):
    """The context before the first token."""
    zeros = lambda *s: jnp.zeros((lanes, *s), jnp.float32)
    return {"M": zeros(d, d), "tail_k": zeros(TAPS - 1, d), "tail_q": zeros(TAPS - 1, d),
            "k": zeros(window - 1, d), "v": zeros(window - 1, d), "pos": jnp.zeros((), jnp.int32)}


def convolve(u, tail, c, b):
    """silu of the sum of the last taps; also the new tail. u [L, T, d]."""
    full = jnp.concatenate([tail, u], axis=1)
    T = u.shape[1]
    z = b + sum(c[a] * full[:, TAPS - 1 - a : TAPS - 1 - a + T] for a in range(TAPS))
    return jax.nn.silu(z), full[:, T:]


def unit(x):
    square = jnp.sum(x * x, axis=-1, keepdims=True)
    return x * jax.lax.rsqrt(jnp.maximum(square, 1e-16))


def step(M, token):
    k, v, q, rho, theta = token
    e = jnp.einsum("lij,lj->li", M, k) - v
    M = rho * M - theta * (e[:, :, None] * k[:, None, :])
    return M, jnp.einsum("lij,lj->li", M, q)


def memory(p, x, ctx, unroll):
    k, tail_k = convolve(x @ p["W_K"].T, ctx["tail_k"], p["c_K"], p["b_K"])
    q, tail_q = convolve(x @ p["W_Q"].T, ctx["tail_q"], p["c_Q"], p["b_Q"])
    v = x @ p["W_V"].T
    k, q = unit(k), unit(q)
    kv = jnp.concatenate([k, v], axis=-1)
    rho = jax.nn.sigmoid(kv @ p["w_rho"] + p["b_rho"])[..., None, None]
    theta = jax.nn.softplus(kv @ p["w_theta"] + p["b_theta"])[..., None, None]
    streams = tuple(a.swapaxes(0, 1) for a in (k, v, q, rho, theta))
    M, y = jax.lax.scan(step, ctx["M"], streams, unroll=unroll)
    return y.swapaxes(0, 1), {"M": M, "tail_k": tail_k, "tail_q": tail_q}


def attention(p, x, ctx, heads, window):
    L, T, d = x.shape
    n = window - 1
    q, k, v = (x @ p[w].T for w in ("W_Q", "W_K", "W_V"))
    k, v = jnp.concatenate([ctx["k"], k], axis=1), jnp.concatenate([ctx["v"], v], axis=1)
    t, s = jnp.arange(T)[:, None], jnp.arange(-n, T)[None, :]
    seen = (s <= t) & (s > t - window) & (s >= -ctx["pos"])
    split = lambda a: a.reshape(L, -1, heads, d // heads)
    score = jnp.einsum("lthc,lshc->lhts", split(q), split(k)) / jnp.sqrt(jnp.float32(d // heads))
    weight = jax.nn.softmax(jnp.where(seen, score, -jnp.inf), axis=-1)
    out = jnp.einsum("lhts,lshc->lthc", weight, split(v)).reshape(L, T, d)
    return out, {"k": k[:, T:], "v": v[:, T:]}


def loss(p, ids, targets, ctx, heads, window, unroll):
    part = lambda of: {n.removeprefix(of): v for n, v in p.items() if n.startswith(of)}
    x = p["E"][ids]
    a, seen = attention(part("attention."), x, ctx, heads, window)
    m, kept = memory(part("memory."), x, ctx, unroll)
    z = (a * jax.nn.sigmoid(m)) @ p["W_O"].T @ p["H"].T
    nats = jax.nn.logsumexp(z, axis=-1) - jnp.take_along_axis(z, targets[..., None], axis=-1)[..., 0]
    return jnp.mean(nats), seen | kept | {"pos": ctx["pos"] + ids.shape[1]}


B1, B2, EPS, DECAY, RATE, WARMUP = 0.9, 0.999, 1e-8, 0.1, 3e-3, 50  # as specs/algorithms/updates/adamw.md, with a warm-up


def adamw(name, w, g, m, s, n):
    m, s = B1 * m + (1 - B1) * g, B2 * s + (1 - B2) * g * g
    u = (m / (1 - B1**n)) / (jnp.sqrt(s / (1 - B2**n)) + EPS)
    if not name.rpartition(".")[2].startswith("b_"):
        u += DECAY * w
    return w - RATE * jnp.minimum(1, n / WARMUP) * u, m, s


def builder(heads, window, unroll):
    """(state, ids, targets) -> state, loss; the state is given away."""
    grad = jax.value_and_grad(functools.partial(loss, heads=heads, window=window, unroll=unroll), has_aux=True)

    def run(state, ids, targets):
        p, m, s, ctx, n = state
        (nats, ctx), g = grad(p, ids, targets, ctx)
        n = n + 1
        new = {name: adamw(name, p[name], g[name], m[name], s[name], n) for name in p}
        p, m, s = ({name: v[i] for name, v in new.items()} for i in range(3))
        return (p, m, s, ctx, n), nats

    return run


def reader(heads, window, unroll):
    """The same without gradient and update."""

    def run(state, ids, targets):
        p, m, s, ctx, n = state
        nats, ctx = loss(p, ids, targets, ctx, heads, window, unroll)
        return (p, m, s, ctx, n), nats

    return run


class Model:
    """ZeroB with its tokens [lanes, steps * chunk + 1], one chunk of which it takes at a step."""

    def __init__(self, kind, params, tokens, lanes, chunk, heads, window, unroll):
        at = range(0, tokens.shape[1] - chunk, chunk)
        self.chunks = [jax.device_put((tokens[:, a : a + chunk], tokens[:, a + 1 : a + chunk + 1])) for a in at]
        self.at = 0
        zeros = {n: jnp.zeros_like(v) for n, v in params.items()}
        d = params["W_O"].shape[0]
        self.state = (jax.device_put(params), zeros, jax.tree.map(jnp.copy, zeros), fresh(lanes, d, window), jnp.zeros((), jnp.int32))
        make = {"build": builder, "stream": reader}[kind]
        self.run = jax.jit(make(heads, window, unroll), donate_argnums=0).lower(self.state, *self.chunks[0]).compile()

    def step(self):
        """Takes the next chunk and returns its loss."""
        self.state, nats = jax.block_until_ready(self.run(self.state, *self.chunks[self.at]))
        self.at += 1
        return nats
