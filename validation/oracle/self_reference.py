"""A memory that makes its own keys, values and gates; math.md section 8.

Every memory decays to its start: to what a parameter N says (plus the identity for
those of keys, values and queries), in chunks to a start that comes with the call. The rate is
at most a quarter of what the decay takes.

Five memories [d, d]: M_k, M_v, M_rho, M_theta, M_mem, all read before the token
is written; the query is a static projection, or what a sixth memory M_q makes.
With own values every memory writes the value that it would itself answer:
M_s (k - v), no drive from outside. A memory with layers is x + A silu(B x).
"""

import jax
import jax.numpy as jnp
import numpy as np

from emit import drawer, emit
from rules import silu, unit
from vector_file import File

NAMES = ("M_k", "M_v", "M_rho", "M_theta", "M_mem")
D, D_H = 4, 6


def matrix(M, z):
    return M @ z


def layers(W, z):
    return z + W[0] @ silu(W[1] @ z)


def streams(at, x, p, F):
    """Key, value, query and gates that the memories at hand make of a token."""
    kept = jnp.mean(F(at["M_rho"], x)) + p["b_rho"]
    theta = jax.nn.softplus(jnp.mean(F(at["M_theta"], x)) + p["b_theta"])
    return {
        "k": unit(F(at["M_k"], x)), "v": unit(F(at["M_v"], x)), "q": unit(F(at["M_q"], x) if "M_q" in at else p["W_Q"] @ x),
        "rho": jax.nn.sigmoid(kept), "theta": theta if F is layers else jnp.minimum(theta, jax.nn.sigmoid(-kept) / 4),
    }


def call(p, state, home, x, own, chunk, F=matrix):
    """y [T, d] and the memories after the call; home is what they decay to. Keys, values, gates and errors
    come from the memories before every chunk-th token."""

    def step(carry, token):
        state, boundary = carry
        x, first = token
        boundary = jax.tree.map(lambda a, b: jnp.where(first, a, b), state, boundary)
        s = streams(boundary, x, p, F)
        y = F(state["M_mem"], s["q"])
        new = {}
        for n in state:
            target = F(boundary[n], s["v"]) if own else s["v"]
            miss = lambda W: 0.5 * jnp.sum((F(W, s["k"]) - target) ** 2)  # the target is no function of W
            new[n] = jax.tree.map(lambda W, P, g: s["rho"] * W + (1 - s["rho"]) * P - s["theta"] * g,
                                  state[n], home[n], jax.grad(miss)(boundary[n]))
        return (new, boundary), y

    first = jnp.arange(x.shape[0]) % chunk == 0
    (state, _), y = jax.lax.scan(step, (state, state), (x, first))
    return y, state


def layered(rand, prefix, own, f, about):
    """The same with two layers for each memory."""
    values = {"x": rand(prefix + "x", (2, 7, D)), "W_Q": rand(prefix + "W_Q", (D, D)),
              "b_rho": np.float64(1.0), "b_theta": np.float64(-2.0)}
    shapes = {"A": (2, D, D_H), "B": (2, D_H, D)}
    values |= {f"state.{n[0]}{m[1:]}": 0.5 * rand(f"{prefix}state.{n}{m[1:]}", s) for m in NAMES for n, s in shapes.items()}
    values |= {f"{n}{m[1:]}_0": 0.5 * rand(f"{prefix}{n}{m[1:]}_0", s[1:]) for m in NAMES for n, s in shapes.items()}

    def run(v):
        state = {m: (v["state.A" + m[1:]], v["state.B" + m[1:]]) for m in NAMES}
        home = {m: (v["A" + m[1:] + "_0"], v["B" + m[1:] + "_0"]) for m in NAMES}
        y, state = jax.vmap(lambda state, x: call(v, state, home, x, own, 1, layers))(state, v["x"])
        return {"y": y} | {n + m[1:] + "_T": s for m in NAMES for n, s in zip("AB", state[m])}

    emit(f, rand, prefix, about, run, values, {"own": own, "chunk": 1})


def vectors():
    f = File("Self-referential memory: d=4, 2 sequences, float64. Written by validation/oracle/make.py.",
             "loss = sum(w * y) + sum(wX * X) over the memories after the call; grad.X its gradient.",
             "chunk: keys, values, gates and errors come from the memories before the chunk. See README.md.")
    rand = drawer("selfref")
    for prefix, T, own, chunk, about in [
        ("shared.", 7, 0, 1, "every memory is taught the same value v"),
        ("own.", 7, 1, 1, "every memory is taught its own answer to v"),
        ("adapted.", 7, 1, 1, "own values, and a sixth memory makes the query"),
        ("one.", 1, 1, 1, "T=1"),
        ("own_call.", 7, 1, 7, "own values, the call is one chunk"),
        ("shared_call.", 7, 0, 7, "the same value, the call is one chunk"),
        ("adapted_call.", 7, 1, 7, "own values and queries, the call is one chunk"),
    ]:
        names = NAMES + ("M_q",) * prefix.startswith("adapted")
        values = {"x": rand(prefix + "x", (2, T, D)), "b_rho": np.float64(1.0), "b_theta": np.float64(-3.0)}
        values |= {} if "M_q" in names else {"W_Q": rand(prefix + "W_Q", (D, D))}
        values |= {"state." + n: rand(prefix + "state." + n, (2, D, D)) for n in names}
        if chunk > 1:
            values |= {"home." + n: rand(prefix + "home." + n, (2, D, D)) for n in names}
        else:
            values |= {"N" + n[1:]: rand(prefix + "N" + n[1:], (D, D)) for n in names}

        def run(v):
            state = {n: v["state." + n] for n in names}
            if chunk > 1:
                home = {n: v["home." + n] for n in names}
                y, state = jax.vmap(lambda state, home, x: call(v, state, home, x, own, chunk))(state, home, v["x"])
            else:
                home = {n: v["N" + n[1:]] + (np.eye(D) if n in ("M_k", "M_v", "M_q") else 0) for n in names}
                y, state = jax.vmap(lambda state, x: call(v, state, home, x, own, chunk))(state, v["x"])
            return {"y": y} | {n + "_T": s for n, s in state.items()}

        emit(f, rand, prefix, about, run, values, {"own": own, "chunk": chunk})
    layered(rand, "layers_own.", 1, f, "memories x + A silu(B x), own values")
    layered(rand, "layers_shared.", 0, f, "memories x + A silu(B x), the same value")
    return f
