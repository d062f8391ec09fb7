"""The delta rule in three heads, as one recurrence over a state [H, d_v, d_k]: all
heads are projected, convolved, normalised and moved at once, by sums that name
the head, and the answers of a token are the rows of one matrix, read as a vector.
A token moves the state by a matrix on its right, rho I - theta k k^T.
"""

import jax
import jax.numpy as jnp
import numpy as np

from emit import drawer, emit
from rules import K, silu, unit
from vector_file import File

D, D_K, D_V, HEADS = 6, 4, 2, 3


def conv(u, tail, pos, c, b):
    """u [T, H, n], tail [H, K-1, n], c [H, K, n], b [H, n]; absent rows of a tail add nothing."""
    T = u.shape[0]
    age = K - 1 - np.arange(K - 1)
    full = jnp.concatenate([jnp.where((age <= pos)[:, None, None], jnp.moveaxis(tail, 0, 1), 0), u])
    windows = jnp.stack([full[K - 1 - a : K - 1 - a + T] for a in range(K)])
    return silu(b + jnp.einsum("han,athn->thn", c, windows)), jnp.moveaxis(full[T:], 0, 1)


def delta(p, x, M, tails, pos):
    """One sequence; M [H, d_v, d_k]."""
    k, tail_k = conv(jnp.einsum("hkd,td->thk", p["W_K"], x), tails["tail_k"], pos, p["c_K"], p["b_K"])
    q, tail_q = conv(jnp.einsum("hkd,td->thk", p["W_Q"], x), tails["tail_q"], pos, p["c_Q"], p["b_Q"])
    k, q, v = unit(k), unit(q), jnp.einsum("hvd,td->thv", p["W_V"], x)
    kv = jnp.concatenate([k, v], axis=-1)
    rho = jax.nn.sigmoid(jnp.einsum("hn,thn->th", p["w_rho"], kv) + p["b_rho"])
    theta = jax.nn.softplus(jnp.einsum("hn,thn->th", p["w_theta"], kv) + p["b_theta"])
    moves = rho[:, :, None, None] * jnp.eye(D_K) - theta[:, :, None, None] * jnp.einsum("thi,thj->thij", k, k)
    writes = jnp.einsum("th,thv,thk->thvk", theta, v, k)

    def step(M, s):
        M = jnp.einsum("hvi,hij->hvj", M, s["move"]) + s["write"]
        return M, jnp.einsum("hvk,hk->hv", M, s["q"])

    M, y = jax.lax.scan(step, M, {"move": moves, "write": writes, "q": q})
    return {"y": y.reshape(x.shape[0], HEADS * D_V), "M_T": M, "tail_k_T": tail_k, "tail_q_T": tail_q}


SHAPES = {"W_K": (HEADS, D_K, D), "W_Q": (HEADS, D_K, D), "W_V": (HEADS, D_V, D), "c_K": (HEADS, K, D_K), "c_Q": (HEADS, K, D_K),
          "b_K": (HEADS, D_K), "b_Q": (HEADS, D_K), "w_rho": (HEADS, D_K + D_V), "w_theta": (HEADS, D_K + D_V),
          "b_rho": (HEADS,), "b_theta": (HEADS,)}
TAILS = ("tail_k", "tail_q")


def vectors():
    f = File("The delta rule in 3 heads: d=6, d_k=4, d_v=2 of a head, 2 sequences, float64. Written by validation/oracle/make.py.",
             "loss = sum(w * y) + sum(wX * X); grad.X is its gradient. The head is the first axis of every parameter and behind the sequence of every state.")
    rand = drawer("heads")
    for T, tail, pos in [(7, "", (100, 1)), (1, "1", (100, 3))]:
        prefix = f"delta{tail}."
        values = {"x": rand(prefix + "x", (2, T, D))} | {n: rand(prefix + n, s) for n, s in SHAPES.items()}
        values |= {"state.M": rand(prefix + "state.M", (2, HEADS, D_V, D_K))}
        values |= {n: rand(prefix + n, (2, HEADS, K - 1, D_K)) for n in TAILS}
        given = {"pos": np.array(pos, np.int64)}

        def run(v):
            return jax.vmap(lambda x, M, tails, pos: delta(v, x, M, tails, pos))(v["x"], v["state.M"], {n: v[n] for n in TAILS}, given["pos"])

        emit(f, rand, prefix, f"by transition matrices of all heads, T={T}", run, values, given)
    return f
