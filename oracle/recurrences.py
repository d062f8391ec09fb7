"""Three recurrences of the literature with a matrix state, in the notation of
the other rules: M [d_v, d_k], write, then read.

RetNet (Sun et al. 2023, arXiv 2307.08621, section 2.1): S_n = gamma S_{n-1} +
K_n^T V_n, o_n = Q_n S_n with a constant decay gamma = 1 - 2^(-5-h) of head h;
keys and queries turn with the position. HGRN2 (Qin et al. 2024, arXiv
2404.07904, section 3): the key is what the forget gate does not keep, k = 1 - f,
and f decays every column of its own; f has a lower bound. Comba (Hu et al. 2025,
arXiv 2506.02475, section 3): S_t = S_{t-1}(alpha_t I - b beta_t k k^T) + beta_t
v k^T, o_t = S_t (q_t - D k_t): a weaker feedback than the write, and an output
correction. What stands around them in the papers (group norm, output gates,
SiLU on the projections) belongs to no recurrence and is left out.
"""

import jax
import jax.numpy as jnp

from emit import drawer
from memory import Memory, case
from vectorfile import File

MATRIX = {"M": (3, 4)}


def turn(u, n, base=10000.0):
    """Pairs (u_2i, u_2i+1) turned by the angle n base^(-2i/d)."""
    half = u.shape[0] // 2
    angle = n * base ** (-2 * jnp.arange(half) / u.shape[0])
    a, b = u[0::2], u[1::2]
    out = jnp.stack([a * jnp.cos(angle) - b * jnp.sin(angle), a * jnp.sin(angle) + b * jnp.cos(angle)], axis=1)
    return out.reshape(-1)


def read(state, q, h):
    return state["M"] @ q


RETNET = Memory(
    "retnet", [], MATRIX,
    lambda state, g, s, p, h: {"M": h["gamma"] * state["M"] + jnp.outer(s["v"], s["k"])}, read)

# The state counts the tokens of its context, as a number of its own.
RETNET_TURNED = Memory(
    "retnet", [], MATRIX | {"n": (1,)},
    lambda state, g, s, p, h: {
        "M": h["gamma"] * state["M"] + jnp.outer(s["v"], turn(s["k"], state["n"][0])), "n": state["n"] + 1},
    lambda state, q, h: state["M"] @ turn(q, state["n"][0] - 1),
    place=lambda state, h: state | {"n": jnp.full((1,), h["n0"])})


def hgrn2_update(state, g, s, p, h):
    f = h["lower"] + (1 - h["lower"]) * jax.nn.sigmoid(s["k"])
    return {"M": state["M"] * f + jnp.outer(s["v"], 1 - f)}


HGRN2 = Memory("hgrn2", [], MATRIX, hgrn2_update, read)


def comba_update(state, g, s, p, h):
    feedback = jax.nn.sigmoid(p["b"]) * s["beta"]
    prior = s["rho"] * state["M"]
    answer = (prior if h["decayed"] else state["M"]) @ s["k"]
    M = prior - feedback * jnp.outer(answer, s["k"]) + s["beta"] * jnp.outer(s["v"], s["k"])
    return {"M": M, "out": s["q"] - p["D"] * s["k"]}


# "out" carries the corrected query to the read; it is no state of the rule.
COMBA = Memory("comba", ["rho", "beta"], MATRIX | {"out": (4,)}, comba_update,
               lambda state, q, h: state["M"] @ state["out"], params={"b": (), "D": ()})


def vectors():
    f = File("RetNet, HGRN2 and Comba: d=5, d_k=4, d_v=3, 2 lanes, float64. Written by oracle/make.py.",
             "loss = sum(w * y) + sum(wX * X); grad.X is its gradient. hgrn2: W_K x is what the",
             "forget gate sees. comba: sigmoid(b) weakens the feedback, out.out_T is q - D k of the last token.")
    rand = drawer("recurrences")
    for T, tail in [(7, ""), (1, "1")]:
        case(f, rand, RETNET, f"retnet{tail}.", f"constant decay gamma, T={T}", T, {"gamma": 1 - 2.0**-5})
    case(f, rand, RETNET_TURNED, "retnet_turned.", "keys and queries turn with the position; n0 tokens before the call",
         7, {"gamma": 1 - 2.0**-6, "n0": 3.0})
    for T, tail in [(7, ""), (1, "1")]:
        case(f, rand, HGRN2, f"hgrn2{tail}.", f"f = lower + (1 - lower) sigmoid(W_K x), k = 1 - f, T={T}", T, {"lower": 0.25})
        case(f, rand, COMBA, f"comba{tail}.", f"feedback of the undecayed state, unit keys and queries, T={T}", T,
             {"decayed": 0}, norm=True)
    case(f, rand, COMBA, "comba_decayed.", "feedback of the decayed state", 7, {"decayed": 1}, norm=True)
    return f
