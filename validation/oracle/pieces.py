"""Biases and retentions as they stand in a rule with a matrix memory, and alone
as plain maps. math.md sections 2 and 3.

In a rule, everything but the piece that a case is about is plain: L2 bias, the
decay rho, gradient descent. So a case whose bias is Huber is the Delta rule
with Huber instead of L2.
"""

import jax
import jax.numpy as jnp
import numpy as np

import knobs
from emit import drawer, emit
from memory import Memory, case
from rules import unit
from vector_file import File

MATRIX = {"M": (3, 4)}
MILD = {"theta": -1.0}
CALM = {"theta": -3.5}  # for pieces that run away at larger rates


def header(what):
    return File(f"{what}, float64. Written by validation/oracle/make.py.",
                "Rules: d=5, d_k=4, d_v=3, two sequences, M [d_v, d_k]. loss = sum(w * y) + sum(wX * X)",
                "over the other results X; grad.X is its gradient. See README.md.")


# Biases


def sloped(name, slope, gates=("rho", "theta"), margin=None):
    """The Delta rule with another slope."""
    full = lambda s, h: h | ({"delta": s["delta"]} if "delta" in s else {})
    return Memory(
        name, list(gates), MATRIX,
        lambda state, g, s, p, h: {"M": s["rho"] * state["M"] - s["theta"] * g["M"]},
        lambda state, q, h: state["M"] @ q,
        lambda state, s, p, h: {"M": jnp.outer(slope(state["M"] @ s["k"], s["v"], full(s, h)), s["k"])},
        spread=MILD)


def huber_near(state, s, p, h):
    return knobs.huber_margin(state["M"] @ s["k"], s["v"], h | ({"delta": s["delta"]} if "delta" in s else {}))


# name, slope, constants
BIASES = [
    ("l2", knobs.l2, {}),
    ("dot", knobs.dot, {}),
    ("huber", knobs.huber, {"delta": 0.6}),
    ("huber_norm", knobs.huber_norm, {"delta": 0.9}),
    ("huber_sign", knobs.huber_sign, {"delta": 0.9}),
    ("l1", knobs.l1, {}),
    ("lp1", knobs.lp, {"p": 1}),
    ("lp2", knobs.lp, {"p": 2}),
    ("lp3", knobs.lp, {"p": 3}),
    ("lp4", knobs.lp, {"p": 4}),
    ("lp_smooth1", knobs.lp_smooth, {"p": 1.5}),
    ("lp_smooth3", knobs.lp_smooth, {"p": 3}),
    ("lp_smooth4", knobs.lp_smooth, {"p": 4}),
    ("kl", knobs.kl, {"tau": 1.0}),
    ("kl_tau", knobs.kl, {"tau": 0.7}),
]


def bias_vectors():
    f = header("Attentional biases: NAME.map. alone, NAME.rule. in the Delta rule")
    rand = drawer("biases")
    for name, slope, h in BIASES:
        pre = name + ".map."
        values = {n: rand(pre + n, s, -1.5, 1.5) for n, s in [("M", (3, 4)), ("k", (4,)), ("v", (3,))]}
        soft = {n: v for n, v in h.items() if n in ("delta", "tau")}
        kind = name.rstrip("0134") if name.startswith("lp_") else name.removesuffix("_tau")

        def run(values):
            y, full = values["M"] @ values["k"], h | {n: values[n] for n in soft}
            b = slope(y, values["v"], full)
            out = {"b": b, "gradient": jnp.outer(b, values["k"])}
            if "huber" in name:
                out["_margin"] = knobs.huber_margin(y, values["v"], full)
            return out

        given = {n: v for n, v in h.items() if n not in soft}
        ell = knobs.objective(kind, values["M"] @ values["k"], values["v"], h)
        if ell is not None:
            given["objective"] = float(ell)
            held = jax.grad(lambda M: knobs.objective(kind, M @ values["k"], values["v"], h))(values["M"])
            given["objective.grad.M"] = np.asarray(held)
        emit(f, rand, pre, f"{name}: b(M k, v) and the inner gradient b k^T", run, values | soft, given)
        near = {"_margin": huber_near} if "huber" in name else {}
        m = sloped(name, slope)
        m.spread = CALM if name == "lp4" else m.spread
        case(f, rand, m, name + ".rule.", f"{name} in the Delta rule", 7, h | near)
    case(f, rand, sloped("huber", knobs.huber, ("rho", "theta", "delta")), "huber_gated.rule.",
         "Huber by coordinates; delta is a gate", 7, {"_margin": huber_near})
    return f


# Retentions. Every entry: constants, update(W or dual, g, s, h) and the domain
# of the state; weights(state) where the state is not the weights.


def rows(spread, total=1.0):
    return lambda state, h: {"M": total * jax.nn.softmax(spread * state["M"], axis=-1)}


def keep(function):
    return lambda A, g, s, h: function(A, g, s["rho"], s["theta"], h)


def bregman(kind):
    return lambda A, g, s, h: knobs.keep_bregman(A, g, s["theta"], kind, h)


def divergence(kind):
    return lambda A, g, s, h: knobs.keep_divergence(A, g, s["theta"], kind, h)


def elastic_near(A, g, s, h):
    return knobs.distance(jnp.abs(s["rho"] * A - s["theta"] * g), s["theta"] * h["l1"])


PLAIN = lambda A, h: A
SIGMOID = lambda A, h: jax.nn.sigmoid(A)
UNIT_INTERVAL = lambda state, h: {"M": jax.nn.sigmoid(2 * state["M"])}
POSITIVE = lambda state, h: {"M": jnp.exp(state["M"])}
AWAY = lambda state, h: {"M": jnp.sign(state["M"]) * (1 + jnp.abs(state["M"]))}
ANY = lambda state, h: state

# name, what it is, constants, update, domain of the state, weights of the state, with rho
RETENTIONS = [
    ("l2", "rho W - theta g", {}, keep(knobs.keep_l2), ANY, PLAIN, True),
    ("kl", "c softmax(rho log W - theta g) of rows, c = 1", {"c": 1.0}, keep(knobs.keep_kl), rows(2), PLAIN, True),
    ("kl2", "the same with rows that sum to 2", {"c": 2.0}, keep(knobs.keep_kl), rows(2, 2.0), PLAIN, True),
    ("elastic", "soft threshold theta l1 of rho W - theta g", {"l1": 0.45}, keep(knobs.keep_elastic), ANY, PLAIN, True),
    ("sphere", "rows (s + t) / ||s + t||, t the tangent part of -theta g", {},
     lambda A, g, s, h: knobs.keep_sphere(A, g, s["theta"]), lambda state, h: {"M": unit(state["M"])}, PLAIN, False),
    ("sigmoid", "the state is Z = logit W: Z = rho Z - theta g", {}, keep(lambda Z, g, r, t, h: knobs.keep_sigmoid(Z, g, r, t)), ANY, SIGMOID, True),
    ("sigmoid_euclidean", "the same with g multiplied by W (1 - W)", {},
     keep(lambda Z, g, r, t, h: knobs.keep_sigmoid(Z, g, r, t, True)), ANY, SIGMOID, True),
    ("mirror4", "the state is A; W = (r-1) sign(A) |A|^3 ||A||_4^-2", {"q": 4}, keep(knobs.keep_l2), ANY, lambda A, h: knobs.mirror(A, h["q"]), True),
    ("mirror3", "the same with q = 3", {"q": 3}, keep(knobs.keep_l2), ANY, lambda A, h: knobs.mirror(A, h["q"]), True),
    ("mirror2", "the same with q = 2: W = A", {"q": 2}, keep(knobs.keep_l2), ANY, lambda A, h: knobs.mirror(A, h["q"]), True),
    ("printed4", "the state is A; W = A / (sum |A|^4 + eps)^(2/4)", {"q": 4, "eps": 1e-12}, keep(knobs.keep_l2), ANY,
     lambda A, h: knobs.mirror_printed(A, h["q"], h["eps"]), True),
    ("bregman_log", "exp(log W - theta g)", {}, bregman("log"), POSITIVE, PLAIN, False),
    ("bregman_logit", "sigmoid(logit W - theta g)", {}, bregman("logit"), UNIT_INTERVAL, PLAIN, False),
    ("bregman_power", "F' = sign(w) |w|^(r-1), r = 1.5", {"r": 1.5}, bregman("power"), AWAY, PLAIN, False),
    ("bregman_identity", "W - theta g", {}, bregman("identity"), ANY, PLAIN, False),
    ("divergence_tlogt", "W phi(-zeta - theta g), phi = exp(x - 1), rows sum to c", {"c": 1.0}, divergence("tlogt"), rows(2), PLAIN, False),
    ("divergence_chi2", "phi = max(1 + x, 0)", {"c": 1.0}, divergence("chi2"), rows(2), PLAIN, False),
    ("divergence_log", "phi = -1/x", {"c": 1.0}, divergence("log"), rows(2), PLAIN, False),
    ("divergence_log2", "the same, rows sum to 2", {"c": 2.0}, divergence("log"), rows(2, 2.0), PLAIN, False),
    ("divergence_root", "phi = 1/x^2, of f = -2 sqrt(t)", {"c": 1.0}, divergence("root"), rows(2), PLAIN, False),
    ("dual_log", "the state is Z = log W: Z = rho Z - theta g", {}, keep(knobs.keep_l2), ANY, lambda A, h: jnp.exp(A), True),
    ("dual_power", "the state is Z, W = sign(Z) Z^2", {}, keep(knobs.keep_l2), ANY, lambda A, h: jnp.sign(A) * A * A, True),
]


def retained(name, update, place, weights, with_rho):
    def grad(state, s, p, h):
        M = weights(state["M"], h)
        return {"M": jnp.outer(M @ s["k"] - s["v"], s["k"])}

    return Memory(name, ["rho", "theta"] if with_rho else ["theta"], MATRIX,
                  lambda state, g, s, p, h: {"M": update(state["M"], g["M"], s, h)},
                  lambda state, q, h: weights(state["M"], h) @ q, grad, place=place, spread=MILD)


def retention_map(f, rand, name, about, h, update, place, weights, with_rho):
    """One step on given W, g, rho, theta."""
    pre = name + ".map."
    W = place({"M": rand(pre + "W", (3, 4))}, h)["M"]
    values = {"W": W, "g": rand(pre + "g", (3, 4)), "theta": np.float64(0.3)}
    if with_rho:
        values["rho"] = np.float64(0.85)
    real = {n: v for n, v in h.items() if isinstance(v, float) and n in ("l1", "c")}

    def run(values):
        s, full = {"rho": values.get("rho"), "theta": values["theta"]}, h | {n: values[n] for n in real}
        new = update(values["W"], values["g"], s, full)
        out = {"W": new}
        if weights is not PLAIN:
            out["image"] = weights(new, full)
        if name == "elastic":
            out["_margin"] = elastic_near(values["W"], values["g"], s, full)
        return out

    given = {n: v for n, v in h.items() if n not in real}
    out = emit(f, rand, pre, f"{name}: {about}", run, values | real, given)
    if name == "elastic":
        zeros = int(np.sum(np.asarray(out["W"]) == 0))
        assert 0 < zeros < 12, zeros


def retention_vectors():
    f = header("Retentions: NAME.map. one step alone, NAME.rule. in a rule with L2 bias")
    rand = drawer("retentions")
    for name, about, h, update, place, weights, with_rho in RETENTIONS:
        retention_map(f, rand, name, about, h, update, place, weights, with_rho)
        near = {}
        m = retained(name, update, place, weights, with_rho)
        m.spread = CALM if name == "bregman_power" else m.spread
        if name == "elastic":
            near = {"_margin": lambda state, s, p, h: elastic_near(state["M"], m.grad(state, s, p, h)["M"], s, h)}
        case(f, rand, m, name + ".rule.", f"{name} in a rule", 7, h | near)
    anchored = Memory(
        "anchored", ["rho", "theta"], MATRIX | {"M_b": (3, 4)},
        lambda state, g, s, p, h: {"M": knobs.keep_anchored(state["M"], g["M"], s["rho"], s["theta"], h, state["M_b"]), "M_b": state["M_b"]},
        lambda state, q, h: state["M"] @ q,
        lambda state, s, p, h: {"M": jnp.outer(state["M"] @ s["k"] - s["v"], s["k"])}, spread=MILD)
    h = {"lambda_loc": 0.03, "lambda2": 0.02}
    case(f, rand, anchored, "anchored.rule.", "rho W - theta (g + 2 lambda_loc (W - W_b) + 2 lambda2 W)", 7, h)
    case(f, rand, anchored, "anchored_call.rule.", "the anchor is the state before the call", 7, h,
         tie={"state.M_b": "state.M"})
    return f


VECTORS = {"biases": bias_vectors, "retentions": retention_vectors}
