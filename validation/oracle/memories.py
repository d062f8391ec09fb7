"""The rules beyond Delta, Titans and Hebbian: deep Titans, MONETA, YAAD, MEMORA,
Lattice, Trellis, Atlas Omega and the learned surrogate of Omega. Inner gradients
come from jax.grad or jax.vjp of the inner objective, so no formula for one is
written here. math.md sections 1.2 to 1.10 and 15 settle the readings."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np

import knobs
from emit import drawer
from memory import Memory, case, frozen_case, start_case, vectors
from ops import gelu_tanh
from rules import silu, unit

D_H = 6  # width of the hidden layer of the two-layer memories
TWO_LAYERS = {"W1": (D_H, 4), "W2": (3, D_H)}
SLOW = {"theta": -1.5}


def mlp(W, x):
    return W["W2"] @ silu(W["W1"] @ x)


def pull(f, W, slope):
    """The inner gradient: the slope at the output, carried back to the weights."""
    y, back = jax.vjp(f, W)
    return back(slope(y))[0]


def same(values, h):
    """The first state is the learned start itself."""
    return {n.removesuffix("_0"): v for n, v in values.items()}


def starts(state):
    return {n + "_0": s for n, s in state.items()}


# Titans with a deep memory: W2 act(W1 x + b1) + b2 and one momentum per weight.

DEEP = {"W1": (D_H, 4), "b1": (D_H,), "W2": (3, D_H), "b2": (3,)}


def deep(W, x, h):
    act = gelu_tanh if h["gelu"] else silu
    return W["W2"] @ act(W["W1"] @ x + W["b1"]) + W["b2"]


def deep_grad(state, s, p, h):
    W = {n: state[n] for n in DEEP}
    return pull(lambda W: deep(W, s["k"], h), W, lambda y: y - s["v"])


def deep_update(state, g, s, p, h):
    S = {n: s["eta"] * state["S_" + n] - s["theta"] * g[n] for n in DEEP}
    return {n: s["rho"] * state[n] + S[n] for n in DEEP} | {"S_" + n: S[n] for n in DEEP}


def thin_grad(state, s, p, h):
    W = {n: state[n] for n in TWO_LAYERS}
    return pull(lambda W: mlp(W, s["k"]), W, lambda y: y - s["v"])


def thin_update(state, g, s, p, h):
    S = {n: s["eta"] * state["S_" + n] - s["theta"] * g[n] for n in TWO_LAYERS}
    return {n: s["rho"] * state[n] + S[n] for n in S} | {"S_" + n: S[n] for n in S}


THIN_TITANS = Memory(
    "deep_titans", ["rho", "theta", "eta"], TWO_LAYERS | {"S_" + n: s for n, s in TWO_LAYERS.items()},
    thin_update, lambda state, q, h: mlp(state, q), thin_grad, spread=SLOW)
DEEP_TITANS = Memory(
    "deep_titans", ["rho", "theta", "eta"], DEEP | {"S_" + n: s for n, s in DEEP.items()},
    deep_update, lambda state, q, h: deep(state, q, h), deep_grad, spread=SLOW,
    start=lambda v, h: same(v, h) | {"S_" + n: jnp.zeros(s) for n, s in DEEP.items()}, start_params=starts(DEEP))


# MONETA: the state is the dual A; the weights are its mirror image.


def moneta_weights(state, h):
    if h["q"] == 2:
        return {"W1": state["A1"], "W2": state["A2"]}
    image = (lambda A: knobs.mirror_printed(A, h["q"], h["eps"])) if h["printed"] else (lambda A: knobs.mirror(A, h["q"]))
    return {"W1": image(state["A1"]), "W2": image(state["A2"])}


def home(p, name, s):
    """What a decay adds that returns to a learned start; a case without one decays to zero."""
    return (1 - s["rho"]) * p[name + "_0"] if name + "_0" in p else 0


def moneta_grad(state, s, p, h):
    W = moneta_weights(state, h)
    g = pull(lambda W: mlp(W, s["k"]), W, lambda y: knobs.lp(y, s["v"], h))
    return {n: g[n] + 2 * h["lambda2"] * W[n] for n in g}


MONETA = Memory(
    "moneta", ["rho", "theta"], {"A1": (D_H, 4), "A2": (3, D_H)},
    lambda state, g, s, p, h: {"A1": s["rho"] * state["A1"] + home(p, "A1", s) - s["theta"] * g["W1"],
                               "A2": s["rho"] * state["A2"] + home(p, "A2", s) - s["theta"] * g["W2"]},
    lambda state, q, h: mlp(moneta_weights(state, h), q), moneta_grad, spread=SLOW,
    start=same, start_params=starts({"A1": (D_H, 4), "A2": (3, D_H)}))
MONETA_PLAIN = {"p": 3, "q": 4, "lambda2": 0.0, "printed": 0, "eps": 0.0}
MONETA_CASES = [
    ("p2q2.", "p=2 and q=2: A is W", MONETA_PLAIN | {"p": 2, "q": 2}),
    ("p1q2.", "p=1: tanh(10 e)", MONETA_PLAIN | {"p": 1, "q": 2}),
    ("penalty.", "p=2, q=2 with the penalty lambda2", MONETA_PLAIN | {"p": 2, "q": 2, "lambda2": 0.01}),
    ("penalty4.", "p=3, q=4 with the penalty lambda2 of the image", MONETA_PLAIN | {"lambda2": 0.05}),
    ("p4q3.", "p=4, q=3", MONETA_PLAIN | {"p": 4, "q": 3}),
    ("home.", "the decay returns to the learned start", MONETA_PLAIN | {"_params": {"A1_0": (D_H, 4), "A2_0": (3, D_H)}}),
    ("printed.", "the printed map A / ||A||_q^(q-2), eps inside the norm", MONETA_PLAIN | {"printed": 1, "eps": 1e-12}),
]


# YAAD: Huber, and a pull towards the anchor W1_b, W2_b, which the call only carries.

HUBER = {"coordinate": knobs.huber, "norm": knobs.huber_norm, "sign": knobs.huber_sign}


def yaad_h(s, h):
    return h | ({"delta": s["delta"]} if "delta" in s else {})


def yaad_grad(state, s, p, h):
    W = {n: state[n] for n in ("W1", "W2")}
    return pull(lambda W: mlp(W, s["k"]), W, lambda y: HUBER[h["form"]](y, s["v"], yaad_h(s, h)))


def yaad_update(state, g, s, p, h):
    new = {n: knobs.keep_anchored(state[n], g[n], s["rho"], s["theta"], h, state[n + "_b"]) + home(p, n, s) for n in ("W1", "W2")}
    return new | {n: state[n] for n in ("W1_b", "W2_b")}


def yaad_margin(state, s, p, h):
    return knobs.huber_margin(mlp(state, s["k"]), s["v"], yaad_h(s, h))


def yaad_read(state, q, h):
    return mlp(state, q)


def yaad_start(v, h):
    W = same(v, h)
    return W | {n + "_b": W[n] for n in W}


ANCHORED = TWO_LAYERS | {n + "_b": s for n, s in TWO_LAYERS.items()}
YAAD = Memory("yaad", ["rho", "theta"], ANCHORED, yaad_update, yaad_read, yaad_grad, spread=SLOW,
              start=yaad_start, start_params=starts(TWO_LAYERS))
YAAD_GATED = Memory("yaad", ["rho", "theta", "delta"], ANCHORED, yaad_update, yaad_read, yaad_grad, spread=SLOW)
YAAD_PLAIN = {"delta": 0.7, "lambda_loc": 0.01, "lambda2": 0.01, "form": "coordinate", "_margin": yaad_margin}
YAAD_CASES = [("norm.", "Huber by the norm", YAAD_PLAIN | {"form": "norm"}),
              ("sign.", "delta sign(e) beyond the norm", YAAD_PLAIN | {"form": "sign"}),
              ("home.", "the decay returns to the learned start",
               YAAD_PLAIN | {"_params": {n + "_0": shape for n, shape in TWO_LAYERS.items()}})]


# MEMORA: rows on the scaled simplex.


def memora_grad(state, s, p, h):
    return pull(lambda W: mlp(W, s["k"]), state, lambda y: y - s["v"])


MEMORA = Memory(
    "memora", ["rho", "theta"], TWO_LAYERS,
    lambda state, g, s, p, h: {n: knobs.keep_kl(state[n], g[n], s["rho"], s["theta"], h) for n in TWO_LAYERS},
    lambda state, q, h: mlp(state, q), memora_grad,
    place=lambda state, h: {n: h["c"] * jax.nn.softmax(2 * v, axis=-1) for n, v in state.items()},
    start=lambda v, h: {n: h["c"] * jax.nn.softmax(v["logits" + n[1] + "_0"], axis=-1) for n in TWO_LAYERS},
    start_params={"logits1_0": (D_H, 4), "logits2_0": (3, D_H)})
MEMORA_CASES = [("c2.", "rows sum to 2", {"c": 2.0})]


def memora_vectors():
    f = vectors(MEMORA, {"c": 1.0}, MEMORA_CASES)
    wide = dataclasses.replace(MEMORA, start=lambda v, h: {
        n: jax.nn.softmax(v["logits" + n[1] + "_0"] * np.sqrt(v["logits" + n[1] + "_0"].shape[1]), axis=-1) for n in TWO_LAYERS})
    start_case(f, drawer("memora"), wide, {"c": 1.0}, "start_wide.", "logits times the root of the length of their row")
    return f


# Lattice: four unit slots in the space of values; k and q hold one coefficient per slot. A value
# is made one long.


def lattice_loss(S, s, form):
    v = unit(s["v"])
    if form == "decode":
        return 0.5 * jnp.sum((v - S.T @ s["k"]) ** 2)
    if form == "encode":
        return 0.5 * jnp.sum((S @ v - s["k"]) ** 2)
    return -v @ (S.T @ s["k"])


LATTICE = Memory(
    "lattice", ["beta"], {"S": (4, 3)},
    lambda state, g, s, p, h: {"S": knobs.keep_sphere(state["S"], g["S"], s["beta"])},
    lambda state, q, h: state["S"].T @ q,
    lambda state, s, p, h: {"S": jax.grad(lattice_loss)(state["S"], s, h["form"])},
    widths=(4, 4, 3), place=lambda state, h: {"S": unit(state["S"])},
    start=lambda v, h: {"S": unit(v["S_0"])}, start_params={"S_0": (4, 3)})
LATTICE_CASES = [("encode.", "encode: 0.5 ||S v - k||^2", {"form": "encode"}),
                 ("similarity.", "similarity: -<v, S^T k>", {"form": "similarity"})]


# The same with the rate theta in the place of beta, as other rules have it.
RATED = dataclasses.replace(LATTICE, gates=["theta"], spread={"theta": -1.0},
                            update=lambda state, g, s, p, h: {"S": knobs.keep_sphere(state["S"], g["S"], s["theta"])})


def lattice_vectors():
    f = vectors(LATTICE, {"form": "decode"}, LATTICE_CASES)
    for form in ("decode", "encode"):
        case(f, drawer("lattice"), RATED, f"rated_{form}.", f"{form}, the rate is theta", 7, {"form": form})
    return f


# Trellis: the first pass compresses the token, which has the length one, the second stores
# the value under the compressed key, which has it too. d_c = 4; the query is as wide as the token.


def one_silu(z):
    return knobs.nsilu(z) / np.sqrt(z.shape[-1])


def trellis_update(state, g, s, p, h):
    x, rho, theta = unit(s["x"]), s["rho"], s["theta"]
    e_k = state["S_K"] @ x - s["k"]
    S_K = (rho - theta * h["lambda_k"]) * state["S_K"] - theta * jnp.outer(e_k, x)
    c = one_silu(S_K @ x)
    e_v = state["S_V"] @ c - s["v"]
    return {"S_K": S_K, "S_V": (rho - theta * h["lambda_v"]) * state["S_V"] - theta * jnp.outer(e_v, c)}


TRELLIS = Memory(
    "trellis", ["rho", "theta"], {"S_K": (4, 5), "S_V": (3, 4)}, trellis_update,
    lambda state, q, h: state["S_V"] @ one_silu(state["S_K"] @ q), widths=(4, 5, 3), spread=SLOW,
    start=same, start_params={"S_K_0": (4, 5), "S_V_0": (3, 4)})
TRELLIS_PLAIN = {"lambda_k": 0.01, "lambda_v": 0.01}


# Atlas Omega: the gradient over the last c pairs, a momentum, Newton-Schulz.


def omega_pairs(state, s):
    return (jnp.concatenate([state["win_k"], s["k"][None]]), jnp.concatenate([state["win_v"], s["v"][None]]))


def omega_grad(state, s, p, h):
    k, v = omega_pairs(state, s)
    present = jnp.any(k != 0, axis=-1, keepdims=True)  # a pair before the start is zero
    phi = jax.vmap(h["phi_"])(k) * present
    loss = lambda M: jnp.sum((phi @ M.T - v) ** 2) / h["c"]
    return {"M": jax.grad(loss)(state["M"])}


def omega_update(state, g, s, p, h):
    k, v = omega_pairs(state, s)
    if h["inside"]:
        S = s["eta"] * state["S"] - s["theta"] * g["M"]
        M = s["rho"] * state["M"] + S
    else:
        S = s["eta"] * state["S"] + g["M"]
        M = s["rho"] * state["M"] - s["theta"] * knobs.newton_schulz(S, h["steps"])
    return {"M": M, "S": S, "win_k": k[1:], "win_v": v[1:]}


ATLAS_OMEGA = Memory(
    "atlas_omega", ["rho", "theta", "eta"],
    {"M": lambda h: (3, h["width"]), "S": lambda h: (3, h["width"]),
     "win_k": lambda h: (h["c"] - 1, 4), "win_v": lambda h: (h["c"] - 1, 3)},
    omega_update, lambda state, q, h: state["M"] @ h["phi_"](q), omega_grad,
    windows=("win_k", "win_v"), spread={"theta": -2.5})
ATLAS_PLAIN = {"c": 3, "steps": 5, "inside": 0, "width": 4, "phi_": lambda k: k}
ATLAS_CASES = [
    ("plain.", "no Newton-Schulz: M = rho M - theta S", ATLAS_PLAIN | {"steps": 0}),
    ("inside.", "no Newton-Schulz, the rate inside: S = eta S - theta G, M = rho M + S", ATLAS_PLAIN | {"steps": 0, "inside": 1}),
    ("c8.", "a window longer than the call", ATLAS_PLAIN | {"c": 8}),
    ("poly.", "polynomial map of degree 2", ATLAS_PLAIN | {"c": 2, "width": 15, "phi_": lambda k: knobs.phi_poly2(k, {})}),
]


# The surrogate of Omega: what is written is a learned function of key and value.


def learned_update(state, g, s, p, h):
    omega = p["W_omega"] @ silu(jnp.concatenate([s["k"], s["v"]]))
    S = s["eta"] * state["S"] - s["theta"] * jnp.outer(omega, s["k"])
    return {"S": S, "M": s["rho"] * state["M"] + S}


OMEGA_LEARNED = Memory(
    "omega_learned", ["rho", "theta", "eta"], {"M": (3, 4), "S": (3, 4)}, learned_update,
    lambda state, q, h: state["M"] @ q, params={"W_omega": (3, 7)})


def deep_vectors():
    f = vectors(DEEP_TITANS, {"gelu": 0}, [("gelu.", "GELU, tanh form", {"gelu": 1})])
    rand = drawer("deep_titans")
    calm = dataclasses.replace(THIN_TITANS, spread={"theta": -3.5})
    case(f, rand, calm, "thin.", "no biases: W2 silu(W1 x)", 7)
    case(f, rand, THIN_TITANS, "thin_front.", "no biases, convolution, unit keys; sequence 1 is young", 7, conv=True, norm=True, pos=(100, 1))
    frozen_case(f, rand, THIN_TITANS, prefix="thin_frozen.")
    return f


def yaad_vectors():
    f = vectors(YAAD, YAAD_PLAIN, YAAD_CASES)
    rand = drawer("yaad")
    gated = {n: v for n, v in YAAD_PLAIN.items() if n != "delta"}
    case(f, rand, YAAD_GATED, "gated.", "delta is a gate: softplus(w_delta . [k; v] + b_delta)", 7, gated)
    case(f, rand, YAAD, "call.", "the anchor is the state before the call, and the gradient goes through it", 7,
         YAAD_PLAIN, tie={"state.W1_b": "state.W1", "state.W2_b": "state.W2"})
    return f


VECTORS = {
    "deep_titans": deep_vectors,
    "moneta": lambda: vectors(MONETA, MONETA_PLAIN, MONETA_CASES),
    "yaad": yaad_vectors,
    "memora": memora_vectors,
    "lattice": lattice_vectors,
    "trellis": lambda: vectors(TRELLIS, TRELLIS_PLAIN),
    "atlas_omega": lambda: vectors(ATLAS_OMEGA, ATLAS_PLAIN, ATLAS_CASES),
    "omega_learned": lambda: vectors(OMEGA_LEARNED, {}),
}
