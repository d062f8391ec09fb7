"""Update machines of the outer loop beyond AdamW: momentum, Muon, AdaMuon, M3.
math.md sections 4.6, 4.8 and 4.10. Plain steps; nothing here has a gradient."""

import numpy as np

import knobs
import streams
from vectorfile import File

LR, EPS = 0.02, 1e-8


def ns(S, steps=5):
    return np.asarray(knobs.newton_schulz(S, steps))


def momentum_inside(w, st, g, n, h):
    """The rate inside: m = beta m - lr g, w = w + m."""
    m = h["beta"] * st["m"] - h["lr"] * g
    return w + m, {"m": m}


def momentum_outside(w, st, g, n, h):
    """The rate outside: m = beta m + g, w = w - lr m."""
    m = h["beta"] * st["m"] + g
    return w - h["lr"] * m, {"m": m}


def muon(w, st, g, n, h):
    m = h["beta"] * st["m"] + g
    return w - h["lr"] * (ns(m) + h["lambda"] * w), {"m": m}


def averages(st, g, o, n, h):
    """The corrected average of g, and of the squares of o(average)."""
    m = h["beta_1"] * st["m"] + (1 - h["beta_1"]) * g
    top = o(m / (1 - h["beta_1"] ** n))
    s = h["beta_2"] * st["s"] + (1 - h["beta_2"]) * (g if h["us"] else top) ** 2
    return m, s, top / (np.sqrt(s / (1 - h["beta_2"] ** n)) + h["epsilon"])


def adamuon(w, st, g, n, h):
    """Squares of the orthogonalised average; the step has the root mean square 0.2."""
    m, s, u = averages(st, g, lambda m: ns(m, h["steps"]), n, h)
    if not h["us"]:
        u = u * h["rms"] / np.sqrt(np.mean(u * u))
    return w - h["lr"] * (u + h["lambda"] * w), {"m": m, "s": s}


def m3(w, st, g, n, h):
    """Two momenta, the slow one from the sum of every f gradients, over the root
    of the squares; averages with bias correction, or the printed sums."""
    b1, b2, b3, f = h["beta_1"], h["beta_2"], h["beta_3"], h["f"]
    total = st["sum"] + g
    slow = n % f == 0
    if h["sums"]:
        m1, v = st["m1"] + b1 * g, st["v"] + b2 * g * g
        m2 = st["m2"] + b3 * total if slow else st["m2"]
        t1, tv, t2 = m1, v, m2
    else:
        m1, v = b1 * st["m1"] + (1 - b1) * g, b2 * st["v"] + (1 - b2) * g * g
        m2 = b3 * st["m2"] + (1 - b3) * total if slow else st["m2"]
        t1, tv = m1 / (1 - b1**n), v / (1 - b2**n)
        t2 = m2 / (1 - b3 ** (n // f)) if n >= f else m2
    w = w - h["lr"] * (ns(t1) + h["alpha"] * ns(t2)) / (np.sqrt(tv) + h["epsilon"])
    return w, {"m1": m1, "v": v, "m2": m2, "sum": np.zeros_like(g) if slow else total}


ADA = {"lr": LR, "beta_1": 0.95, "beta_2": 0.999, "epsilon": EPS, "lambda": 0.1, "steps": 5, "rms": 0.2, "us": 0}
M3 = {"lr": LR, "beta_1": 0.9, "beta_2": 0.999, "beta_3": 0.99, "f": 3, "alpha": 0.5, "epsilon": EPS, "sums": 0}
MACHINES = [
    ("momentum_inside.", momentum_inside, ["m"], {"lr": LR, "beta": 0.9}, "m = beta m - lr g, w = w + m"),
    ("momentum_outside.", momentum_outside, ["m"], {"lr": LR, "beta": 0.9}, "m = beta m + g, w = w - lr m"),
    ("muon.", muon, ["m"], {"lr": LR, "beta": 0.95, "lambda": 0.1}, "m = beta m + g, w = w - lr (NS(m) + lambda w)"),
    ("muon_tall.", muon, ["m"], {"lr": LR, "beta": 0.95, "lambda": 0.1}, "the same, more rows than columns"),
    ("adamuon.", adamuon, ["m", "s"], ADA, "squares of the orthogonalised average, RMS 0.2"),
    ("adamuon_us.", adamuon, ["m", "s"], ADA | {"us": 1}, "squares of the gradient, no RMS match"),
    ("adamuon_us0.", adamuon, ["m", "s"], ADA | {"us": 1, "steps": 0}, "no Newton-Schulz: Adam"),
    ("m3.", m3, ["m1", "v", "m2", "sum"], M3, "averages with bias correction"),
    ("m3_sums.", m3, ["m1", "v", "m2", "sum"], M3 | {"beta_1": 0.9, "beta_2": 0.5, "beta_3": 0.3, "sums": 1}, "the printed sums"),
]


def vectors():
    f = File("Update machines, w [3, 4] (tall: [5, 2]), float64. Written by oracle/make.py.",
             "g.N is the gradient of step N, counted from 1; X.N the state after it. See README.md.")
    for prefix, machine, state, h, about in MACHINES:
        shape = (5, 2) if "tall" in prefix else (3, 4)
        rand = lambda n: streams.uniform(f"updates.{prefix}{n}", 1, shape, -1, 1)
        w, st = rand("w.0"), {n: np.zeros(shape) for n in state}
        f.add(prefix + "w.0", w, about)
        f.add_all(prefix, {n: np.float64(v) for n, v in h.items()})
        for n in range(1, 8):
            g = rand(f"g.{n}")
            w, st = machine(w, st, g, n, h)
            f.add(f"{prefix}g.{n}", g)
            f.add(f"{prefix}w.{n}", w)
            f.add_all(prefix, {f"{s}.{n}": v for s, v in st.items()})
    return f
