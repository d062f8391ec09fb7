"""Feature maps and inner algorithms as they stand in a rule with a matrix memory,
L2 bias and the decay rho, and alone. math.md sections 4 and 8.3."""

import jax
import jax.numpy as jnp
import numpy as np

import knobs
from emit import drawer, emit
from memory import Memory, case
from pieces import MATRIX, MILD, header, sloped
from rules import silu

# Feature maps

PHIS = [
    ("linear", "Phi x", knobs.phi_linear, {"Phi": (6, 4)}, 6),
    ("rff", "sqrt(2/D) cos(Phi x + phase)", knobs.phi_rff, {"Phi": (6, 4), "phase": (6,)}, 6),
    ("elu", "x + 1 above zero, exp(x) below", knobs.phi_elu, {}, 4),
    ("poly2", "1, x_i, x_i x_j / 2 for i <= j", knobs.phi_poly2, {}, 15),
    ("mlp", "x + Phi2 silu(Phi1 x)", knobs.phi_mlp, {"Phi1": (6, 4), "Phi2": (4, 6)}, 4),
]


def feature_vectors():
    f = header("Feature maps of keys and queries: NAME.map. alone, NAME.rule. in the Delta rule")
    rand = drawer("features")
    for name, about, phi, params, width in PHIS:
        pre = name + ".map."
        values = {"x": rand(pre + "x", (5, 4))} | {n: rand(pre + n, s) for n, s in params.items()}
        emit(f, rand, pre, f"{name}: {about}; rows", lambda v: {"y": jax.vmap(lambda x: phi(x, v))(v["x"])}, values)
        m = Memory(name, ["rho", "theta"], {"M": (3, width)},
                   lambda state, g, s, p, h: {"M": s["rho"] * state["M"] - s["theta"] * g["M"]},
                   lambda state, q, h: state["M"] @ q,
                   lambda state, s, p, h: {"M": jnp.outer(state["M"] @ s["k"] - s["v"], s["k"])}, spread={"theta": -2.0})
        h = {"phi": phi, "_params": params}
        case(f, rand, m, name + ".rule.", f"{name}; the gates see the key before the map", 7, h)
        case(f, rand, m, name + ".front.", "with convolution and unit keys before the map", 7, h, conv=True, norm=True, pos=(100, 1))
    return f


# Inner algorithms


def error_gradient(state, s, p, h):
    return {"M": jnp.outer(state["M"] @ s["k"] - s["v"], s["k"])}


def with_momentum(name, update, spread=MILD):
    return Memory(name, ["rho", "theta", "eta"], MATRIX | {"S": (3, 4)}, update,
                  lambda state, q, h: state["M"] @ q, error_gradient, spread=spread)


def ema(state, g, s, p, h):
    S = s["eta"] * state["S"] - s["theta"] * g["M"]
    return {"S": S, "M": s["rho"] * state["M"] + S}


def delta_decay(state, g, s):
    return s["eta"] - jnp.sum(g["M"] ** 2)


def delta_momentum(state, g, s, p, h):
    """The decay of the momentum shrinks with the size of the gradient."""
    S = jnp.clip(delta_decay(state, g, s), 1e-6, 1 - 1e-6) * state["S"] - s["theta"] * g["M"]
    return {"S": S, "M": s["rho"] * state["M"] + S}


def delta_margin(state, s, p, h):
    return knobs.distance(delta_decay(state, error_gradient(state, s, p, h), s), 1e-6)


def delta_momentum_key(state, g, s, p, h):
    """The same idea with the key as the vector: S (eta I - theta k k^T)."""
    S = s["eta"] * state["S"] - s["theta"] * jnp.outer(state["S"] @ s["k"], s["k"]) - s["theta"] * g["M"]
    return {"S": S, "M": s["rho"] * state["M"] + S}


def deep_momentum(state, g, s, p, h):
    """A two-layer net that maps the rows of the gradient onto themselves is the
    momentum: one step of rate mu on 0.5 sum ||f(g_r) - g_r||^2, then M moves along f(g)."""
    f = lambda N: silu(g["M"] @ N["N1"].T) @ N["N2"].T
    N = {n: state[n] for n in ("N1", "N2")}
    d = jax.grad(lambda N: 0.5 * jnp.sum((f(N) - g["M"]) ** 2))(N)
    N = {n: N[n] - h["mu"] * d[n] for n in N}
    return N | {"M": s["rho"] * state["M"] - s["theta"] * f(N)}


def muon(state, g, s, p, h):
    S = s["eta"] * state["S"] + g["M"]
    return {"S": S, "M": s["rho"] * state["M"] - s["theta"] * knobs.newton_schulz(S, h["steps"])}


def implicit(decayed):
    """argmin 0.5 ||W k - v||^2 + ||W - W'||^2 / (2 theta), W' = rho M or M."""

    def update(state, g, s, p, h):
        c = s["theta"] / (1 + s["theta"] * s["k"] @ s["k"])
        prior = s["rho"] * state["M"]
        e = (prior if decayed else state["M"]) @ s["k"] - s["v"]
        return {"M": prior - c * jnp.outer(e, s["k"])}

    return Memory("implicit", ["rho", "theta"], MATRIX, update, lambda state, q, h: state["M"] @ q)


FTRL = {
    "l2": lambda A, h: h["alpha"] * A,
    "l1": lambda A, h: jnp.where(jnp.abs(A) > h["threshold"], A - jnp.sign(A) * h["threshold"], 0.0),
    "entropy": lambda A, h: jax.nn.softmax(A, axis=-1),
}


def ftrl(kind):
    W = FTRL[kind]
    return Memory("ftrl_" + kind, ["theta"], {"A": (3, 4)},
                  lambda state, g, s, p, h: {"A": state["A"] - s["theta"] * g["A"]},
                  lambda state, q, h: W(state["A"], h) @ q,
                  lambda state, s, p, h: {"A": jnp.outer(W(state["A"], h) @ s["k"] - s["v"], s["k"])}, spread=MILD)


def ftrl_margin(state, s, p, h):
    return knobs.distance(jnp.abs(state["A"]), h["threshold"])


def ftrl_first(kind, h):
    """first.M: the weights before the call, which A determines."""
    return {"_given": lambda values: {"first.M": np.asarray(FTRL[kind](values["state.A"], h))}}


def small(values, h):
    """Starts at which the clamp of delta momentum binds for some tokens only."""
    return {n: 0.3 * v for n, v in values.items()}


def halved(values, h):
    """Nets that do not run away."""
    return {n: 0.5 * v for n, v in values.items()}


def dgd(W, x, gy, eta):
    """W (I - eta' x x^T) - eta' gy x^T, eta' = eta / (1 + eta)."""
    e = eta / (1 + eta)
    return W - e * jnp.outer(W @ x, x) - e * jnp.outer(gy, x)


def descend(slope):
    """Delta gradient descent in a rule: the decay acts on the memory, not on the step."""

    def update(state, g, s, p, h):
        gy = slope(state["M"] @ s["k"], s["v"], h)
        return {"M": dgd(state["M"], s["k"], gy, s["theta"]) + (s["rho"] - 1) * state["M"]}

    return update


def algorithm_vectors():
    f = header("Inner algorithms with a matrix memory, L2 bias and the decay rho")
    rand = drawer("algorithms")
    plain = sloped("gd", knobs.l2)
    case(f, rand, plain, "gd.", "M = rho M - theta g", 7)
    case(f, rand, with_momentum("ema", ema), "ema.", "S = eta S - theta g, M = rho M + S", 7)
    m = with_momentum("delta_momentum", delta_momentum, spread={"eta": 2.0, "theta": -1.0})
    m.place = small
    case(f, rand, m, "delta_momentum.", "S = clamp(eta - ||g||^2, 1e-6, 1 - 1e-6) S - theta g", 7,
         {"_margin": delta_margin}, norm=True)
    case(f, rand, with_momentum("key", delta_momentum_key), "delta_momentum_key.",
         "S = S (eta I - theta k k^T) - theta g, unit keys", 7, norm=True)
    m = Memory("deep", ["rho", "theta"], MATRIX | {"N1": (6, 4), "N2": (4, 6)}, deep_momentum,
               lambda state, q, h: state["M"] @ q, error_gradient, spread={"theta": -1.5}, place=halved)
    case(f, rand, m, "deep_momentum.",
         "N = N - mu dN of 0.5 sum over rows ||f(g_r) - g_r||^2, M = rho M - theta f(g)", 7, {"mu": 0.1}, norm=True)
    case(f, rand, with_momentum("muon", muon, spread={"theta": -2.5}), "newton_schulz.", "S = eta S + g, M = rho M - theta NS(S)", 7, {"steps": 5})
    case(f, rand, implicit(True), "implicit.", "c = theta / (1 + theta k.k); the error of rho M", 7)
    case(f, rand, implicit(False), "implicit_undecayed.", "the same with the error of M", 7)
    case(f, rand, ftrl("l2"), "ftrl_l2.", "A = A - theta g, W = alpha A", 7, {"alpha": 0.8} | ftrl_first("l2", {"alpha": 0.8}))
    case(f, rand, ftrl("l1"), "ftrl_l1.", "W = soft threshold of A", 7,
         {"threshold": 0.2, "_margin": ftrl_margin} | ftrl_first("l1", {"threshold": 0.2}))
    case(f, rand, ftrl("entropy"), "ftrl_entropy.", "W = softmax of the rows of A", 7)
    for name, slope in [("dot", knobs.dot), ("l2", knobs.l2)]:
        m = Memory("dgd", ["rho", "theta"], MATRIX, descend(slope), lambda state, q, h: state["M"] @ q)
        case(f, rand, m, f"dgd_{name}.", f"M = rho M - c (M k + gy) k^T, c = theta / (1 + theta), gy the slope of {name}", 7)
    values = {n: rand("dgd." + n, s) for n, s in [("W", (3, 4)), ("x", (4,)), ("gy", (3,))]} | {"eta": np.float64(0.6)}
    emit(f, rand, "dgd.", "W (I - eta' x x^T) - eta' gy x^T, eta' = eta / (1 + eta)", lambda v: {"W": dgd(**v)}, values)
    for name, shape in [("wide", (3, 4)), ("tall", (5, 2)), ("square", (3, 3))]:
        for steps in (1, 5):
            pre = f"ns_{name}{steps}."
            emit(f, rand, pre, f"Newton-Schulz, {steps} quintic steps from S / (||S||_F + 1e-7)",
                 lambda v: {"y": knobs.newton_schulz(v["S"], steps)}, {"S": rand(pre + "S", shape)}, {"steps": steps})
    return f


VECTORS = {"features": feature_vectors, "algorithms": algorithm_vectors}
