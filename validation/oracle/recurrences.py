"""Three recurrences of the literature, each in the form that a page of
specs/algorithms/examples says, but computed in another way than that page does.

RetNet (Sun et al. 2023, arXiv 2307.08621, section 2.1) in its parallel form: the
answer is a sum over all older tokens, with complex keys and queries, decays
gamma = 1 - 2^(-5-h) of head h and turns by the distance of two tokens; then the
norm of a head, a gate and a projection. HGRN2 (Qin et al. 2024, arXiv
2404.07904, section 3): the key is what the forget gate does not keep, k = 1 - f,
and f has a learned floor; here the products of gates are written out. Comba (Hu
et al. 2025, arXiv 2506.02475, section 3): the value is corrected by what the
faded memory answers to p = sigmoid(s_in) k, the answer by s_out p; here by its
transition matrix alpha (I - beta p k^T).
"""

import jax
import jax.numpy as jnp
import numpy as np

from emit import drawer, emit
from rules import K, short_conv, silu, unit
from vector_file import File

D, D_K, D_V, HEADS, D_C = 5, 4, 3, 2, 4


def retnet(v, x, A, B):
    """One sequence; A, B [H, d_v, d_c] are the two parts of the state before the call."""
    T = x.shape[0]
    key = jnp.einsum("hjd,td->thj", v["W_A"], x) - 1j * jnp.einsum("hjd,td->thj", v["W_B"], x)
    query = jnp.einsum("hjd,td->thj", v["W_C"], x) + 1j * jnp.einsum("hjd,td->thj", v["W_E"], x)
    value = jnp.einsum("hid,td->thi", v["W_V"], x)
    turn = jnp.log(1 - 2.0 ** (-5 - np.arange(HEADS)))[:, None] + 1j * 10000.0 ** (-np.arange(D_C) / D_C)
    age = np.subtract.outer(np.arange(T), np.arange(T))  # of token m at token n
    kept = jnp.where((age >= 0)[:, :, None, None], jnp.exp(np.maximum(age, 0)[:, :, None, None] * turn), 0)
    old = jnp.exp((1 + np.arange(T))[:, None, None] * turn)
    o = jnp.einsum("nhj,nmhj,mhj,mhi->nhi", query, kept, key, value)
    o = (o + jnp.einsum("nhj,nhj,hij->nhi", query, old, A + 1j * B)).real
    r = o - jnp.mean(o, axis=-1, keepdims=True)
    z = silu(jnp.einsum("hid,td->thi", v["W_G"], x)) * r / jnp.sqrt(jnp.mean(r * r, axis=-1, keepdims=True) + 1e-5)
    S = jnp.einsum("hj,hij->hij", old[-1], A + 1j * B) + jnp.einsum("mhj,mhj,mhi->hij", kept[-1], key, value)
    return {"y": z.reshape(T, -1) @ v["W_O"].T, "A_T": S.real, "B_T": S.imag}


def hgrn2(v, x, M):
    floor = jax.nn.sigmoid(v["b_F"])
    f = floor + (1 - floor) * jax.nn.sigmoid(x @ v["W_F"].T)
    values, q = x @ v["W_V"].T, silu(x @ v["W_Q"].T)
    since = jnp.cumprod(f, axis=0)  # floors are far from zero and calls short
    writes = jnp.einsum("ti,tj->tij", values, (1 - f) / since)
    states = since[:, None, :] * (M + jnp.cumsum(writes, axis=0))
    return {"y": jnp.einsum("tij,tj->ti", states, q), "M_T": states[-1]}


def comba(v, x, M, tails, pos):
    k, tail_k = short_conv(x @ v["W_K"].T, tails["tail_k"], pos, v["c_K"], v["b_K"])
    q, tail_q = short_conv(x @ v["W_Q"].T, tails["tail_q"], pos, v["c_Q"], v["b_Q"])
    values, tail_v = short_conv(x @ v["W_V"].T, tails["tail_v"], pos, v["c_V"], v["b_V"])
    k, q = unit(k), unit(q)
    alpha = jnp.exp(-jnp.exp(v["a"]) * jax.nn.softplus(x @ v["w_alpha"] + v["b_alpha"]))
    beta = jax.nn.sigmoid(x @ v["w_beta"])
    p = jax.nn.sigmoid(v["s_in"]) * k

    def step(M, s):
        M = M @ (s["alpha"] * (jnp.eye(D_K) - s["beta"] * jnp.outer(s["p"], s["k"]))) + s["beta"] * jnp.outer(s["v"], s["k"])
        return M, M @ (s["q"] - v["s_out"] * s["p"]) / np.sqrt(D_K)

    M, y = jax.lax.scan(step, M, {"k": k, "q": q, "v": values, "p": p, "alpha": alpha, "beta": beta})
    return {"y": y, "M_T": M, "tail_k_T": tail_k, "tail_q_T": tail_q, "tail_v_T": tail_v}


SHAPES = {
    "retnet": {n: (HEADS, D_C, D) for n in ("W_A", "W_B", "W_C", "W_E")}
    | {n: (HEADS, D_V, D) for n in ("W_V", "W_G")} | {"W_O": (D, HEADS * D_V)},
    "hgrn2": {"W_F": (D_K, D), "W_Q": (D_K, D), "W_V": (D_V, D), "b_F": (D_K,)},
    "comba": {"W_K": (D_K, D), "W_Q": (D_K, D), "W_V": (D_V, D), "c_K": (K, D_K), "c_Q": (K, D_K), "c_V": (K, D_V),
              "b_K": (D_K,), "b_Q": (D_K,), "b_V": (D_V,), "w_alpha": (D,), "w_beta": (D,)},
}
STATES = {"retnet": {n: (HEADS, D_V, D_C) for n in "AB"}, "hgrn2": {"M": (D_V, D_K)}, "comba": {"M": (D_V, D_K)}}
SCALARS = {"b_alpha": -0.7, "a": 0.2, "s_in": 0.4, "s_out": 0.8}
TAILS = {"tail_k": D_K, "tail_q": D_K, "tail_v": D_V}


def case(f, rand, name, prefix, about, T, pos=(100, 1)):
    values = {"x": rand(prefix + "x", (2, T, D))} | {n: rand(prefix + n, s) for n, s in SHAPES[name].items()}
    values |= {"state." + n: rand(prefix + "state." + n, (2, *s)) for n, s in STATES[name].items()}
    given = {}
    if name == "comba":
        values |= {n: np.float64(v) for n, v in SCALARS.items()}
        values |= {n: rand(prefix + n, (2, K - 1, d)) for n, d in TAILS.items()}
        given = {"pos": np.array(pos, np.int64)}

    def run(v):
        if name == "retnet":
            return jax.vmap(lambda x, A, B: retnet(v, x, A, B))(v["x"], v["state.A"], v["state.B"])
        if name == "hgrn2":
            return jax.vmap(lambda x, M: hgrn2(v, x, M))(v["x"], v["state.M"])
        return jax.vmap(lambda x, M, tails, pos: comba(v, x, M, tails, pos))(
            v["x"], v["state.M"], {n: v[n] for n in TAILS}, given["pos"])

    emit(f, rand, prefix, about, run, values, given)


def vectors():
    f = File("RetNet, HGRN2 and Comba: d=5, d_k=4, d_v=3, 2 sequences, float64. Written by validation/oracle/make.py.",
             "loss = sum(w * y) + sum(wX * X); grad.X is its gradient. retnet: 2 heads, 4 complex entries of a key.")
    rand = drawer("recurrences")
    for T, tail, pos in [(7, "", (100, 1)), (1, "1", (100, 3))]:
        case(f, rand, "retnet", f"retnet{tail}.", f"by the parallel form, T={T}", T)
        case(f, rand, "hgrn2", f"hgrn2{tail}.", f"by products of gates, T={T}", T)
        case(f, rand, "comba", f"comba{tail}.", f"by transition matrices, convolutions of all three, T={T}", T, pos)
    return f
