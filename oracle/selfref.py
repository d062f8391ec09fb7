"""A memory that makes its own keys, values and gates; math.md section 8.

Five memories [d, d]: M_k, M_v, M_rho, M_theta, M_mem, all read before the token
is written; the query is a static projection. With own values every memory
writes the value that it would itself answer: M_s (k - v), no drive from outside.
"""

import jax
import jax.numpy as jnp
import numpy as np

from emit import drawer, emit
from rules import unit
from vectorfile import File

NAMES = ("M_k", "M_v", "M_rho", "M_theta", "M_mem")
D = 4


def streams(at, x, p):
    """Key, value and gates that the memories at hand make of a token."""
    return {
        "k": unit(at["M_k"] @ x), "v": at["M_v"] @ x, "q": unit(p["W_Q"] @ x),
        "rho": jax.nn.sigmoid(jnp.mean(at["M_rho"] @ x) + p["b_rho"]),
        "theta": jax.nn.softplus(jnp.mean(at["M_theta"] @ x) + p["b_theta"]),
    }


def call(p, state, x, own, chunk):
    """y [T, d] and the memories after the call. Keys, values, gates and errors
    come from the memories before every chunk-th token."""

    def step(carry, token):
        state, boundary = carry
        x, first = token
        boundary = jax.tree.map(lambda a, b: jnp.where(first, a, b), state, boundary)
        s = streams(boundary, x, p)
        y = state["M_mem"] @ s["q"]
        new = {}
        for n in NAMES:
            target = boundary[n] @ s["v"] if own else s["v"]
            new[n] = s["rho"] * state[n] - s["theta"] * jnp.outer(boundary[n] @ s["k"] - target, s["k"])
        return (new, boundary), y

    first = jnp.arange(x.shape[0]) % chunk == 0
    (state, _), y = jax.lax.scan(step, (state, state), (x, first))
    return y, state


def vectors():
    f = File("Self-referential memory: d=4, 2 lanes, float64. Written by oracle/make.py.",
             "loss = sum(w * y) + sum(wX * X) over the memories after the call; grad.X its gradient.",
             "chunk: keys, values, gates and errors come from the memories before the chunk. See README.md.")
    rand = drawer("selfref")
    for prefix, T, own, chunk, about in [
        ("shared.", 7, 0, 1, "every memory is taught the same value v"),
        ("own.", 7, 1, 1, "every memory is taught its own answer to v"),
        ("one.", 1, 1, 1, "T=1"),
        ("own_c3.", 7, 1, 3, "own values, chunks of 3"),
        ("shared_c4.", 7, 0, 4, "the same value, chunks of 4"),
    ]:
        values = {"x": rand(prefix + "x", (2, T, D)), "W_Q": rand(prefix + "W_Q", (D, D)),
                  "b_rho": np.float64(1.0), "b_theta": np.float64(-1.0)}
        values |= {"state." + n: rand(prefix + "state." + n, (2, D, D)) for n in NAMES}

        def run(v):
            state = {n: v["state." + n] for n in NAMES}
            y, state = jax.vmap(lambda state, x: call(v, state, x, own, chunk))(state, v["x"])
            return {"y": y} | {n + "_T": s for n, s in state.items()}

        emit(f, rand, prefix, about, run, values, {"own": own, "chunk": chunk})
    return f
