"""Update machines of the outer loop beyond AdamW: momentum, Muon, AdaMuon, M3.
math.md sections 4.6, 4.8 and 4.10. Plain steps; nothing here has a gradient."""

import numpy as np

import knobs
import streams
from vector_file import File

LR, EPS = 0.02, 1e-8


def ns(S, steps=5, eps=1e-7):
    return np.asarray(knobs.newton_schulz(S, steps, eps))


def matched(u, h):
    """u at the root mean square rms, as far as epsilon lets it."""
    return u * (h["rms"] * np.sqrt(u.size) / (np.sqrt(np.sum(u * u)) + h["epsilon"]))


# Each machine returns the step, that is, what the rate multiplies, and its state;
# a is the rate of step n. Decay is beside it: w = w - step - a lambda w.


def momentum_inside(w, st, g, n, a, h):
    """The rate inside: m = beta m - a g, w = w + m."""
    m = h["beta"] * st["m"] - a * g
    return -m, {"m": m}


def momentum_outside(w, st, g, n, a, h):
    """The rate outside: m = beta m - g, w = w + a m."""
    m = h["beta"] * st["m"] - g
    return -a * m, {"m": m}


def muon(w, st, g, n, a, h):
    """A running mean, looked ahead or not, made orthogonal, times a size of the shape."""
    b = h["beta"]
    m = b * st["m"] + (1 - b) * g
    # A norm below epsilon would count as epsilon; here none is.
    o = ns(b * m + (1 - b) * g if h["nesterov"] else m, h["steps"], 0.0)
    r, c = w.shape
    return a * o * {"rms": 0.2 * max(r, c) ** 0.5, "shape": max(1, r / c) ** 0.5, "none": 1.0}[h["_scale"]], {"m": m}


def averages(st, g, o, n, h):
    """The corrected average of g, and of the squares of o(average)."""
    m = h["beta_1"] * st["m"] + (1 - h["beta_1"]) * g
    top = o(m / (1 - h["beta_1"] ** n))
    s = h["beta_2"] * st["s"] + (1 - h["beta_2"]) * (g if h["us"] else top) ** 2
    return m, s, top / (np.sqrt(s / (1 - h["beta_2"] ** n)) + h["epsilon"])


def adamuon(w, st, g, n, a, h):
    """Squares of the orthogonalised average; the step has the root mean square 0.2."""
    m, s, u = averages(st, g, lambda m: ns(m, h["steps"]), n, h)
    return a * (u if h["us"] else matched(u, h)), {"m": m, "s": s}


def m3(w, st, g, n, a, h):
    """Two momenta, the slow one from the sum of the f gradients of the window before, over the root
    of the squares, of the gradient or of what comes out; averages with bias
    correction, or the printed sums."""
    b1, b2, b3, f = h["beta_1"], h["beta_2"], h["beta_3"], h["f"]
    total = st["sum"]
    slow = (n - 1) % f == 0
    if h["sums"]:
        m1 = st["m1"] + b1 * g
        m2 = st["m2"] + b3 * total if slow else st["m2"]
        t1, t2 = m1, m2
    else:
        m1 = b1 * st["m1"] + (1 - b1) * g
        m2 = b3 * st["m2"] + (1 - b3) * total if slow else st["m2"]
        t1 = m1 / (1 - b1**n)
        t2 = m2 / (1 - b3 ** ((n - 1) // f)) if n > f else m2
    o = ns(t1, 5, h["epsilon_ns"]) + h["alpha"] * ns(t2, 5, h["epsilon_ns"])
    q = o if h["output"] else g
    v = st["v"] + b2 * q * q if h["sums"] else b2 * st["v"] + (1 - b2) * q * q
    u = o / (np.sqrt(v if h["sums"] else v / (1 - b2**n)) + h["epsilon"])
    return a * (matched(u, h) if h["output"] else u), {"m1": m1, "v": v, "m2": m2, "sum": g if slow else total + g}


ALL = {"lambda": 0.1}
WARMUP = 4  # of the rate
SGD = ALL | {"beta": 0.9}
MUON = ALL | {"beta": 0.95, "epsilon": 1e-7, "steps": 5, "nesterov": 1, "_scale": "rms"}
PLAIN = MUON | {"nesterov": 0, "_scale": "none"}
ADA = ALL | {"beta_1": 0.95, "beta_2": 0.999, "epsilon": EPS, "epsilon_ns": 1e-7, "steps": 5, "rms": 0.2, "us": 0}
# An epsilon_ns that is nothing: with one, what is corrected before the iteration would give other digits.
M3 = ALL | {"beta_1": 0.9, "beta_2": 0.999, "beta_3": 0.99, "f": 3, "alpha": 0.5, "epsilon": EPS, "epsilon_ns": 1e-30,
            "rms": 0.2, "sums": 0, "output": 0}
MACHINES = [
    ("momentum_inside.", momentum_inside, ["m"], SGD, "m = beta m - a g, w = w + m"),
    ("momentum_outside.", momentum_outside, ["m"], SGD, "m = beta m - g, w = w + a m"),
    ("muon.", muon, ["m"], MUON, "looking ahead, entries of 0.2"),
    ("muon_tall.", muon, ["m"], MUON, "the same, more rows than columns"),
    ("muon_plain.", muon, ["m"], PLAIN, "m = beta m + (1 - beta) g, w = w - a NS(m)"),
    ("muon_tall_shape.", muon, ["m"], MUON | {"_scale": "shape"}, "times the root of rows over columns"),
    ("adamuon.", adamuon, ["m", "s"], ADA, "squares of the orthogonalised average, RMS 0.2"),
    ("adamuon_tall.", adamuon, ["m", "s"], ADA, "the same, more rows than columns"),
    ("adamuon_us.", adamuon, ["m", "s"], ADA | {"us": 1}, "squares of the gradient, no RMS match"),
    ("adamuon_us0.", adamuon, ["m", "s"], ADA | {"us": 1, "steps": 0}, "no Newton-Schulz: Adam"),
    ("m3.", m3, ["m1", "v", "m2", "sum"], M3 | {"output": 1}, "averages with bias correction, squares of what comes out"),
    ("m3_gradient.", m3, ["m1", "v", "m2", "sum"], M3, "squares of the gradient"),
    ("m3_tall.", m3, ["m1", "v", "m2", "sum"], M3 | {"output": 1}, "more rows than columns"),
    ("m3_sums.", m3, ["m1", "v", "m2", "sum"], M3 | {"beta_1": 0.9, "beta_2": 0.5, "beta_3": 0.3, "sums": 1}, "the printed sums"),
]


def vectors():
    f = File("Update machines, w [3, 4] (tall: [5, 2], momentum: [12]), float64. Written by validation/oracle/make.py.",
             "g.N is the gradient of step N, counted from 1; X.N the state after it. lr.N is the rate of",
             "step N: it warms up over four. See README.md.")
    for prefix, machine, state, h, about in MACHINES:
        shape = (5, 2) if "tall" in prefix else (12,) if "momentum" in prefix else (3, 4)
        rand = lambda n: streams.uniform(f"updates.{prefix}{n}", 1, shape, -1, 1)
        w, st = rand("w.0"), {n: np.zeros(shape) for n in state}
        f.add(prefix + "w.0", w, about)
        f.add_all(prefix, {f"{s}.0": v for s, v in st.items()})
        f.add_all(prefix, {n: np.float64(v) for n, v in h.items() if n[0] != "_"})
        for n in range(1, 8):
            g = rand(f"g.{n}")
            a = LR * min(1, n / WARMUP)
            step, st = machine(w, st, g, n, a, h)
            w = w - step - a * h["lambda"] * w
            f.add(f"{prefix}lr.{n}", np.float64(a))
            f.add(f"{prefix}g.{n}", g)
            f.add(f"{prefix}w.{n}", w)
            f.add_all(prefix, {f"{s}.{n}": v for s, v in st.items()})
    return f
