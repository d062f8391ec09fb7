"""The memory rules as steps of lax.scan, float32, keys and values of the same
width d. The equations are those of validation/bench/page; inner gradients that have a short
form are written out, as who writes such a step would, and the outer gradient is
JAX's.

A step takes the state, a dict of [d, d], and the streams of one token; it gives
the new state and the answer.
"""

import dataclasses
from typing import Callable

import jax
import jax.numpy as jnp


def silu(x):
    return x * jax.nn.sigmoid(x)


def silu_slope(x):
    p = jax.nn.sigmoid(x)
    return p + x * p * (1 - p)


def delta(s, t):
    M = t["rho"] * s["M"] - t["theta"] * jnp.outer(s["M"] @ t["k"] - t["v"], t["k"])
    return {"M": M}, M @ t["q"]


def titans(s, t):
    S = t["eta"] * s["S"] - t["theta"] * jnp.outer(s["M"] @ t["k"] - t["v"], t["k"])
    M = t["rho"] * s["M"] + S
    return {"M": M, "S": S}, M @ t["q"]


def hebbian(s, t):
    M = t["rho"] * s["M"] + jnp.outer(t["v"], t["k"])
    return {"M": M}, M @ t["q"]


def layers(W1, W2, t, slope):
    """The inner gradients of both layers."""
    z = W1 @ t["k"]
    h = silu(z)
    e = slope(W2 @ h - t["v"])
    return jnp.outer(silu_slope(z) * (W2.T @ e), t["k"]), jnp.outer(e, h)


def ask(W1, W2, q):
    return W2 @ silu(W1 @ q)


def image(A):
    """The mirror map at the exponent 4."""
    square = A * A
    return (1 / 3) * A * square * jax.lax.rsqrt(jnp.sum(square * square))


def moneta(s, t):
    power = lambda r: jnp.tanh(10 * r) * (r * r + 1e-6)
    G1, G2 = layers(image(s["W1"]), image(s["W2"]), t, power)
    W1, W2 = (t["rho"] * s[n] - t["theta"] * G for n, G in (("W1", G1), ("W2", G2)))
    return {"W1": W1, "W2": W2}, ask(image(W1), image(W2), t["q"])


def yaad(s, t):
    G1, G2 = layers(s["W1"], s["W2"], t, lambda r: jnp.clip(r, -1, 1))
    move = lambda W, G, B: t["rho"] * W - t["theta"] * (G + 0.02 * (W - B) + 0.02 * W)
    W1, W2 = move(s["W1"], G1, t["B1"]), move(s["W2"], G2, t["B2"])
    return {"W1": W1, "W2": W2}, ask(W1, W2, t["q"])


def memora(s, t):
    G1, G2 = layers(s["W1"], s["W2"], t, lambda r: r)
    move = lambda W, G: jax.nn.softmax(t["rho"] * jnp.log(jnp.maximum(W, 1e-8)) - t["theta"] * G, axis=-1)
    W1, W2 = move(s["W1"], G1), move(s["W2"], G2)
    return {"W1": W1, "W2": W2}, ask(W1, W2, t["q"])


def lattice(s, t):
    S = s["S"]
    G = -jnp.outer(t["k"], t["v"] - S.T @ t["k"])
    N = G - jnp.sum(S * G, axis=-1, keepdims=True) * S
    U = S - t["theta"] * N
    S = U * jax.lax.rsqrt(jnp.sum(U * U, axis=-1, keepdims=True))
    return {"S": S}, S.T @ jax.nn.softmax(S @ t["q"])


def trellis(s, t):
    def nsilu(z):
        a = silu(z)
        return jnp.sqrt(jnp.float32(z.shape[0])) * a * jax.lax.rsqrt(jnp.sum(a * a) + 1e-6)

    keep = t["rho"] - 0.01 * t["theta"]
    K, x = s["S_K"], t["x"]
    K = keep * K - t["theta"] * jnp.outer(K @ x - t["k"], x)
    V, c = s["S_V"], nsilu(K @ x)
    V = keep * V - t["theta"] * jnp.outer(V @ c - t["v"], c)
    return {"S_K": K, "S_V": V}, V @ nsilu(K @ t["q"])


WINDOW, ROUNDS = 8, 5


def orthogonal(S):
    """Newton and Schulz; a scan, because XLA takes minutes for what is unrolled."""

    def quintic(X, _):
        A = X @ X.T
        return 3.4445 * X + (-4.7750 * A + 2.0315 * (A @ A)) @ X, None

    return jax.lax.scan(quintic, S / (jnp.sqrt(jnp.sum(S * S)) + 1e-7), None, ROUNDS)[0]


def atlas_omega(s, t):
    k, v = t["window_k"], t["window_v"]  # [8, d]; rows before the start are zero
    G = (2 / WINDOW) * (k @ s["M"].T - v).T @ k
    S = t["eta"] * s["S"] + G
    M = t["rho"] * s["M"] - t["theta"] * orthogonal(S)
    return {"M": M, "S": S}, M @ t["q"]


def windows(x):
    """[T, 8, d]: each row with the seven before it."""
    full = jnp.concatenate([jnp.zeros((WINDOW - 1, x.shape[1]), x.dtype), x])
    return jnp.stack([full[a : a + x.shape[0]] for a in range(WINDOW)], axis=1)


@dataclasses.dataclass
class Rule:
    step: Callable
    gates: list
    states: list
    vectors: tuple = ("k", "q", "v")
    anchors: tuple = ()  # read by every step and not changed
    window: bool = False

    def inputs(self, T, d):
        """The shapes of what is given, in the order in which it comes."""
        shapes = {n: (T, d) for n in self.vectors} | {n: (T,) for n in self.gates}
        shapes |= {n: (d, d) for n in [*self.states, *self.anchors]} | {"y.bar": (T, d)}
        return shapes | {n + ".bar": (d, d) for n in self.states}

    def forward(self, tokens, states, anchors):
        if self.window:
            tokens = tokens | {"window_" + n: windows(tokens[n]) for n in ("k", "v")}
        last, y = jax.lax.scan(lambda s, t: self.step(s, t | anchors), states, tokens)
        return {"y": y} | {n + ".out": last[n] for n in self.states}

    def both(self, T, d):
        """Forward and backward as one function of a dict of inputs."""

        def run(given):
            parts = [{n: given[n] for n in names} for names in ([*self.vectors, *self.gates], self.states, self.anchors)]
            out, back = jax.vjp(self.forward, *parts)
            tokens, states, anchors = back({"y": given["y.bar"]} | {n + ".out": given[n + ".bar"] for n in self.states})
            out |= {n + ".bar": g for n, g in tokens.items()}
            return out | {n + ".bar.out": g for n, g in (states | anchors).items()}

        return run


RULES = {
    "delta": Rule(delta, ["rho", "theta"], ["M"]),
    "titans": Rule(titans, ["rho", "theta", "eta"], ["M", "S"]),
    "hebbian": Rule(hebbian, ["rho"], ["M"]),
    "moneta": Rule(moneta, ["rho", "theta"], ["W1", "W2"]),
    "yaad": Rule(yaad, ["rho", "theta"], ["W1", "W2"], anchors=("B1", "B2")),
    "memora": Rule(memora, ["rho", "theta"], ["W1", "W2"]),
    "lattice": Rule(lattice, ["theta"], ["S"]),
    "trellis": Rule(trellis, ["rho", "theta"], ["S_K", "S_V"], vectors=("x", "k", "q", "v")),
    "atlasomega": Rule(atlas_omega, ["rho", "theta", "eta"], ["M", "S"], window=True),
}
