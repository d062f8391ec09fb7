"""The newer vector files against plain.py: results to 1e-11, gradients to
differences of the loops, exact chunk forms to the loops, update machines and
single maps again. selftest.py runs it."""

import numpy as np

import plain
import plain_pieces
from plain import sigmoid

DIFFERENCES = 1e-7  # steps of 1e-5 of losses of order 10: 1e-10 of rounding, more where a slope bends sharply
EXACT = 1e-12


def relative(a, b):
    a, b = np.asarray(a, float), np.asarray(b, float)
    return np.linalg.norm(a - b) / max(np.linalg.norm(b), 1e-300)


def differences(f, c, loss, per=3, eps=1e-5):
    """The worst gradient of case c against differences of fourth order, relative
    to the largest entry of its tensor where that exceeds 1."""
    worst = 0
    for name in [n for n in f if n.startswith(c + "grad.")]:
        target = name.replace("grad.", "", 1)
        g, flat = f[name].ravel(), f[target].ravel()
        for i in range(0, g.size, max(1, g.size // per)):
            at = []
            for step in (eps, -eps, 2 * eps, -2 * eps):
                moved = flat.copy()
                moved[i] += step
                at.append(loss({**f, target: moved.reshape(f[target].shape)}))
            fd = (8 * (at[0] - at[1]) - (at[2] - at[3])) / (12 * eps)
            worst = max(worst, abs(fd - g[i]) / max(1, np.max(np.abs(g))))
    return worst


def rule_case(expect, file, f, c, rule, unit):
    y, ends = plain.loop(f, c, rule, unit)
    off = [relative(f[c + "out." + n + "_T"], v) for n, v in ends.items() if np.size(v) and n != "Z"]
    expect(f"{file} {c}y and states", max([relative(f[c + "out.y"], y), *off]), EXACT)
    expect(f"{file} {c}gradients", differences(f, c, lambda f: plain.loss(f, c, rule, unit)), DIFFERENCES)


def cases(f):
    """The prefixes of a file that are calls of a rule."""
    return [n[: -len("out.y")] for n in f if n.endswith("out.y") and n[: -len("out.y")] + "W_K" in f]


def rules(expect, load):
    named = {"deep_titans": plain.DEEP, "moneta": plain.MONETA, "yaad": plain.YAAD, "memora": plain.MEMORA,
             "lattice": plain.LATTICE, "trellis": plain.TRELLIS, "atlas_omega": plain.ATLAS, "omega_learned": plain.OMEGA}
    for file, rule in named.items():
        f = load(file)
        for c in cases(f):
            rule_case(expect, file, f, c, plain.THIN if c.startswith("thin") else rule, c.endswith("front."))
    matrix = {"delta": plain.Rule(plain_pieces.delta, plain_pieces.linear), "titans": plain.Rule(plain_pieces.titans, plain_pieces.linear)}
    f = load("chunks")
    for c in cases(f):
        rule_case(expect, "chunks", f, c, (named | matrix | {"deep_titans": plain.THIN, "lattice_flat": plain.FLAT, "lattice_linear": plain.FLAT})[c.split(".")[0]], False)


def recurrences(expect, load):
    f = load("recurrences")
    for c in [n[: -len("out.y")] for n in f if n.endswith("out.y")]:
        y, ends = plain_pieces.recurrence(f, c)
        off = [relative(f[c + "out." + n + "_T"], v) for n, v in ends.items()]
        expect(f"recurrences {c}y and states", max([relative(f[c + "out.y"], y), *off]), EXACT)
        expect(f"recurrences {c}gradients", differences(f, c, lambda f: plain_pieces.recurrence_loss(f, c)), DIFFERENCES)


def pieces(expect, load):
    f = load("biases")
    for c in cases(f):
        n = c.split(".")[0]
        for a, b in [("lp_smooth", "lp_smooth"), ("lp", "lp"), ("kl", "kl"), ("huber_gated", "huber")]:
            if n.startswith(a):
                n = b
                break
        rule_case(expect, "biases", f, c, plain_pieces.biased(n), False)
    for c in [n[: -len("out.gradient")] for n in f if n.endswith("map.out.gradient")]:
        inner = f[c + "out.gradient"]
        if c + "objective.grad.M" in f:
            expect(f"biases {c}the slope is the gradient", relative(inner, f[c + "objective.grad.M"]), EXACT)
    f = load("retentions")
    for c in cases(f):
        rule_case(expect, "retentions", f, c, plain_pieces.kept(c.split(".")[0].removesuffix("_call")), False)
    f = load("algorithms")
    for c in cases(f):
        rule_case(expect, "algorithms", f, c, plain_pieces.algorithm(c[:-1]), c in ("delta_momentum.", "delta_momentum_key.", "deep_momentum."))
    for c in [n[: -len("S")] for n in f if n.startswith("ns_") and n.count(".") == 1 and n.endswith(".S")]:
        steps = int(f[c + "steps"])
        y = lambda f: plain.orthogonal(f[c + "S"], steps)
        expect(f"algorithms {c}y", relative(f[c + "out.y"], y(f)), EXACT)
        expect(f"algorithms {c}gradient", differences(f, c, lambda f: np.sum(f[c + "w"] * y(f))), DIFFERENCES)


PHI = {
    "linear": lambda x, p: p["Phi"] @ x,
    "rff": lambda x, p: np.sqrt(2 / 6) * np.cos(p["Phi"] @ x + p["phase"]),
    "elu": lambda x, p: np.array([a + 1 if a > 0 else np.exp(a) for a in x]),
    "poly2": lambda x, p: plain.phi(x, "poly."),
    "mlp": lambda x, p: x + plain.mlp(p["Phi1"], p["Phi2"], x),
}


def features(expect, load):
    f = load("features")
    for c in cases(f):
        phi = PHI[c.split(".")[0]]
        at = lambda x, f, c: phi(x, {n: f[c + n] for n in ("Phi", "phase", "Phi1", "Phi2") if c + n in f})
        rule = plain.Rule(lambda state, b, s, f, c: plain_pieces.delta(state, b, s | {"k": at(s["k"], f, c)}, f, c),
                          lambda state, q, f, c: state["M"] @ at(q, f, c))
        rule_case(expect, "features", f, c, rule, c.endswith("front."))


def chunks(expect, load):
    f = load("long")
    for c in ("streams.delta.", "streams.titans."):
        eta, S0 = f.get(c + "eta"), f.get(c + "S0", np.zeros((3, 4)))
        for C in (1, 2, 4, 16, 64, 67):
            y, M, S = plain_pieces.chunk_forms(f[c + "k"], f[c + "q"], f[c + "v"], f[c + "rho"], f[c + "theta"], eta, f[c + "M0"], S0, C)
            off = [relative(f[c + "out.y"], y), relative(f[c + "out.M_T"], M)]
            if eta is not None:
                off.append(relative(f[c + "out.S_T"], S))
            expect(f"long {c}exact chunks of {C}", max(off), EXACT)
    s, y = f["scan.s0"], []
    for a, b in zip(f["scan.a"], f["scan.b"]):
        s = a * s + b
        y.append(s)
    expect("long scan", relative(f["scan.out.y"], y), EXACT)


def unit(u):
    return u / np.linalg.norm(u)


def layers(A, B, z):
    return z + A @ plain.silu(B @ z)


def selfref_step(m, at, home, x, f, c):
    """One token: the answer and the memories after it, the slopes by hand."""
    wide = c.startswith("layers")
    F = lambda W, z: layers(*W, z) if wide else W @ z
    k, v = unit(F(at["M_k"], x)), unit(F(at["M_v"], x))
    kept = np.mean(F(at["M_rho"], x)) + f[c + "b_rho"]
    rho = sigmoid(kept)
    theta = np.log1p(np.exp(np.mean(F(at["M_theta"], x)) + f[c + "b_theta"]))
    if not wide:
        theta = min(theta, sigmoid(-kept) / 4)
    q = unit(F(at["M_q"], x) if "M_q" in at else f[c + "W_Q"] @ x)
    new = {}
    for n in m:
        e = F(at[n], k) - (F(at[n], v) if f[c + "own"] else v)
        if wide:
            A, B = at[n]
            z = B @ k
            slopes = np.outer(e, plain.silu(z)), np.outer(plain.dsilu(z) * (A.T @ e), k)
            new[n] = tuple(rho * W + (1 - rho) * P - theta * g for W, P, g in zip(m[n], home[n], slopes))
        else:
            new[n] = rho * m[n] + (1 - rho) * home[n] - theta * np.outer(e, k)
    return F(m["M_mem"], q), new


def selfref_loss(f, c):
    """The call by loops; every memory of its own."""
    wide = c.startswith("layers")
    names = [n.removeprefix(c + "state.") for n in f if n.startswith(c + "state.")]
    total, y_all, ends = 0.0, [], {n: [] for n in names}
    for l in range(2):
        m = {n: f[c + "state." + n][l] for n in names}
        if wide:
            m = {"M" + n[1:]: (m[n], m["B" + n[1:]]) for n in names if n[0] == "A"}
            home = {n: (f[c + "A" + n[1:] + "_0"], f[c + "B" + n[1:] + "_0"]) for n in m}
        elif c.endswith("call."):
            home = {n: f[c + "home." + n][l] for n in names}
        else:
            home = {n: f[c + "N" + n[1:]] + (np.eye(4) if n in ("M_k", "M_v", "M_q") else 0) for n in names}
        for t in range(f[c + "x"].shape[1]):
            if t % f[c + "chunk"] == 0:
                at = dict(m)
            y, m = selfref_step(m, at, home, f[c + "x"][l, t], f, c)
            total += np.sum(f[c + "w"][l, t] * y)
            y_all.append(y)
        for n in names:
            end = m["M" + n[1:]]["AB".index(n[0])] if wide else m[n]
            total += np.sum(f[c + "w" + n + "_T"][l] * end)
            ends[n].append(end)
    return total, y_all, ends


def selfref(expect, load):
    f = load("selfref")
    for c in [n[: -len("out.y")] for n in f if n.endswith("out.y")]:
        total, y, ends = selfref_loss(f, c)
        off = [relative(f[c + "out." + n + "_T"], v) for n, v in ends.items()]
        expect(f"selfref {c}y and memories", max([relative(f[c + "out.y"].reshape(-1, 4), y), *off]), EXACT)
        expect(f"selfref {c}gradients", differences(f, c, lambda f: selfref_loss(f, c)[0]), DIFFERENCES)


def updates(expect, load):
    """Some steps of every machine, written out; the rate is 0.02 from the fourth on."""
    f = load("updates")
    ns = plain.orthogonal
    rate = lambda n: 0.02 * min(1, n / 4)
    match = lambda u: 0.2 * np.sqrt(u.size) * u / (np.linalg.norm(u) + 1e-8)

    def step(c, n, u):
        w = f[f"{c}w.{n - 1}"]
        expect(f"updates {c}step {n}", relative(f[f"{c}w.{n}"], (1 - 0.1 * rate(n)) * w - u), EXACT)

    g = lambda c, n: f[f"{c}g.{n}"]
    # The seventh step by all gradients: what is inside keeps the rate that it came with.
    c = "momentum_inside."
    step(c, 7, sum(0.9 ** (7 - i) * rate(i) * g(c, i) for i in range(1, 8)))
    c = "momentum_outside."
    step(c, 7, 0.02 * sum(0.9 ** (7 - i) * g(c, i) for i in range(1, 8)))
    for c in ("adamuon.", "adamuon_tall."):
        o = ns(g(c, 1))
        step(c, 1, rate(1) * match(o / (np.abs(o) + 1e-8)))
        m = ns((0.95 * 0.05 * g(c, 1) + 0.05 * g(c, 2)) / (1 - 0.95**2))
        step(c, 2, rate(2) * match(m / (np.sqrt((0.999 * 0.001 * o * o + 0.001 * m**2) / (1 - 0.999**2)) + 1e-8)))
    step("adamuon_us.", 1, rate(1) * ns(g("adamuon_us.", 1)) / (np.abs(g("adamuon_us.", 1)) + 1e-8))
    step("adamuon_us0.", 1, rate(1) * g("adamuon_us0.", 1) / (np.abs(g("adamuon_us0.", 1)) + 1e-8))
    for c in ("m3_gradient.", "m3.", "m3_tall."):
        # The fourth step is the first that has the slow momentum, of the three gradients before.
        o = [ns(sum(0.9 ** (n - i) * g(c, i) for i in range(1, n + 1)), eps=0) for n in (1, 2, 3, 4)]
        o[3] = o[3] + 0.5 * ns(g(c, 1) + g(c, 2) + g(c, 3), eps=0)
        q = [g(c, n) for n in (1, 2, 3, 4)] if c == "m3_gradient." else o
        v = sum(0.001 * 0.999 ** (3 - i) * q[i] ** 2 for i in range(4)) / (1 - 0.999**4)
        u = o[3] / (np.sqrt(v) + 1e-8)
        step(c, 4, rate(4) * (u if c == "m3_gradient." else match(u)))
    c = "m3_sums."
    fast, slow = (ns(sum(g(c, n) for n in range(1, k + 1)), eps=0) for k in (4, 3))
    step(c, 4, rate(4) * (fast + 0.5 * slow) / (np.sqrt(0.5 * sum(g(c, n) ** 2 for n in (1, 2, 3, 4))) + 1e-8))
    for c, ahead, size in [("muon.", True, 0.4), ("muon_tall.", True, 0.2 * np.sqrt(5)), ("muon_plain.", False, 1.0),
                           ("muon_tall_shape.", True, np.sqrt(2.5))]:
        m = 0.95 * 0.05 * g(c, 1) + 0.05 * g(c, 2)
        step(c, 2, rate(2) * size * ns(0.95 * m + 0.05 * g(c, 2) if ahead else m, eps=0))


def run(expect, load):
    for test in (rules, recurrences, pieces, features, chunks, selfref, updates):
        test(expect, load)
