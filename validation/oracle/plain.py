"""The newer cases again, in numpy loops over sequences and tokens that share nothing
with what wrote them: inner gradients by hand, as math.md sections 1 to 8 print
them. check() holds results to them, and gradients to differences of the loops."""

import numpy as np


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def silu(x):
    return x * sigmoid(x)


def dsilu(x):
    s = sigmoid(x)
    return s + x * s * (1 - s)


def softmax(x):
    e = np.exp(x - np.max(x, axis=-1, keepdims=True))
    return e / np.sum(e, axis=-1, keepdims=True)


SQUASH = {"theta": lambda x: np.log1p(np.exp(x)), "delta": lambda x: np.log1p(np.exp(x))}
GATES = ("rho", "theta", "eta", "beta", "delta")


def stream(f, c, l, t, n, pos):
    """Key or query of token t: projection, convolution and norm if the case has a tail or says unit."""
    tail = "tail_" + n.lower()
    raw = lambda s: f[c + "W_" + n] @ f[c + "x"][l, s]
    if c + "c_" + n not in f:
        return raw(t)
    z = f[c + "b_" + n].copy()
    for a in range(4):
        if t - a >= 0:
            z = z + f[c + "c_" + n][a] * raw(t - a)
        elif a - t <= pos[l]:
            z = z + f[c + "c_" + n][a] * f[c + tail][l, 3 + t - a]
    return silu(z)


def loop(f, c, rule, unit):
    """y and the states of case c. rule: step(state, s, f, c) -> state and
    read(state, q, f, c); the step sees a boundary state where the case has chunks."""
    L, T, _ = f[c + "x"].shape
    pos = f.get(c + "pos", np.full(L, 100))
    names = [n.removeprefix(c + "state.") for n in f if n.startswith(c + "state.")]
    y, ends = [], []
    for l in range(L):
        state = {n: f[c + "state." + n][l].copy() for n in names}
        for n in names:
            if n + "_b" not in names and c + "w" + n + "_b_T" in f:
                state[n + "_b"] = state[n].copy()  # an anchor that is the state before the call
            if n.startswith("win_"):
                for j in range(len(state[n])):
                    if len(state[n]) - j > pos[l]:
                        state[n][j] = 0
        rows, boundary = [], None
        for t in range(T):
            k, q = stream(f, c, l, t, "K", pos), stream(f, c, l, t, "Q", pos)
            v, x = f[c + "W_V"] @ f[c + "x"][l, t], f[c + "x"][l, t]
            if unit:
                k, q = k / max(np.linalg.norm(k), 1e-8), q / max(np.linalg.norm(q), 1e-8)
            kv = np.concatenate([k, v])
            s = {"k": k, "q": q, "v": v, "x": x}
            s |= {g: SQUASH.get(g, sigmoid)(f[c + "w_" + g] @ kv + f[c + "b_" + g]) for g in GATES if c + "w_" + g in f}
            size = int(f.get(c + "chunk", 1))
            if t % size == 0 or (c.startswith("lattice_linear") and t >= T // size * size):
                boundary = state
            new = rule.step(state, boundary, s, f, c)
            rows.append(rule.read(new, q, f, c))
            state = new
        y.append(rows)
        ends.append(state)
    return np.array(y), {n: np.array([e[n] for e in ends]) for n in ends[0]}


def loss(f, c, rule, unit):
    y, ends = loop(f, c, rule, unit)
    return np.sum(f[c + "w"] * y) + sum(np.sum(f[c + "w" + n + "_T"] * v) for n, v in (ends | tails(f, c)).items() if n != "Z")


def tails(f, c):
    """The raw projections of the last three positions, absent ones zero."""
    out = {}
    for n in ("K", "Q"):
        if c + "c_" + n in f:
            before = f[c + "tail_" + n.lower()].copy()
            for l, pos in enumerate(f[c + "pos"]):
                before[l, : max(0, 3 - pos)] = 0
            rows = np.concatenate([before, f[c + "x"] @ f[c + "W_" + n].T], axis=1)
            out["tail_" + n.lower()] = rows[:, -3:]
    return out


class Rule:
    def __init__(self, step, read):
        self.step, self.read = step, read


# Two layers


def backprop(W1, W2, k, slope):
    """Gradients of the two weights, and the output, math.md 1.4."""
    z = W1 @ k
    h = silu(z)
    g = slope(W2 @ h)
    return np.outer(dsilu(z) * (W2.T @ g), k), np.outer(g, h)


def mlp(W1, W2, x):
    return W2 @ silu(W1 @ x)


def lp(e, p):
    if p == 2:
        return e
    if p == 1:
        return np.tanh(10 * e)
    return np.tanh(10 * e) * np.sqrt(e * e + 1e-6) ** (p - 1)


def image(A, f, c):
    q = float(f[c + "q"])
    if q == 2:
        return A
    n = np.sum(np.abs(A) ** q)
    if f[c + "printed"]:
        return A / (n + float(f[c + "eps"])) ** ((q - 2) / q)
    return np.sign(A) * np.abs(A) ** (q - 1) * n ** ((2 - q) / q) / (q - 1)


def home(name, s, f, c):
    return (1 - s["rho"]) * f[c + name + "_0"] if c == "home." else 0


def moneta(state, at, s, f, c):
    W1, W2 = image(at["A1"], f, c), image(at["A2"], f, c)
    g1, g2 = backprop(W1, W2, s["k"], lambda y: lp(y - s["v"], float(f[c + "p"])))
    lam = 2 * f[c + "lambda2"]
    return {"A1": s["rho"] * state["A1"] + home("A1", s, f, c) - s["theta"] * (g1 + lam * W1),
            "A2": s["rho"] * state["A2"] + home("A2", s, f, c) - s["theta"] * (g2 + lam * W2)}


MONETA = Rule(moneta, lambda state, q, f, c: mlp(image(state["A1"], f, c), image(state["A2"], f, c), q))


def huber(e, delta, form):
    n = np.linalg.norm(e)
    if form == "norm.":
        return e if n <= delta else delta * e / n
    if form == "sign.":
        return e if n <= delta else delta * np.sign(e)
    return np.clip(e, -delta, delta)


def yaad(state, at, s, f, c):
    delta = s.get("delta", f.get(c + "delta"))
    g = dict(zip(("W1", "W2"), backprop(at["W1"], at["W2"], s["k"], lambda y: huber(y - s["v"], delta, c))))
    out = {n: state[n] for n in state}
    for n in g:
        pull = 2 * f[c + "lambda_loc"] * (state[n] - state[n + "_b"]) + 2 * f[c + "lambda2"] * state[n]
        out[n] = s["rho"] * state[n] + home(n, s, f, c) - s["theta"] * (g[n] + pull)
    return out


YAAD = Rule(yaad, lambda state, q, f, c: mlp(state["W1"], state["W2"], q))


def memora(state, at, s, f, c):
    g = dict(zip(("W1", "W2"), backprop(at["W1"], at["W2"], s["k"], lambda y: y - s["v"])))
    return {n: float(f[c + "c"]) * softmax(s["rho"] * np.log(np.maximum(state[n], 1e-8)) - s["theta"] * g[n]) for n in g}


MEMORA = Rule(memora, YAAD.read)


def gelu(x):
    return 0.5 * x * (1 + np.tanh(0.7978845608028654 * (x + 0.044715 * x**3)))


def dgelu(x):
    t = np.tanh(0.7978845608028654 * (x + 0.044715 * x**3))
    return 0.5 * (1 + t) + 0.5 * x * (1 - t * t) * 0.7978845608028654 * (1 + 3 * 0.044715 * x * x)


def deep(state, at, s, f, c):
    act, slope = (gelu, dgelu) if f[c + "gelu"] else (silu, dsilu)
    z = at["W1"] @ s["k"] + at["b1"]
    e = at["W2"] @ act(z) + at["b2"] - s["v"]
    a = slope(z) * (at["W2"].T @ e)
    g = {"W1": np.outer(a, s["k"]), "b1": a, "W2": np.outer(e, act(z)), "b2": e}
    out = {"S_" + n: s["eta"] * state["S_" + n] - s["theta"] * g[n] for n in g}
    return out | {n: s["rho"] * state[n] + out["S_" + n] for n in g}


def deep_read(state, q, f, c):
    return state["W2"] @ (gelu if f[c + "gelu"] else silu)(state["W1"] @ q + state["b1"]) + state["b2"]


DEEP = Rule(deep, deep_read)


def thin(state, at, s, f, c):
    g = dict(zip(("W1", "W2"), backprop(at["W1"], at["W2"], s["k"], lambda y: y - s["v"])))
    out = {"S_" + n: s["eta"] * state["S_" + n] - s["theta"] * g[n] for n in g}
    return out | {n: s["rho"] * state[n] + out["S_" + n] for n in g}


THIN = Rule(thin, YAAD.read)


# Slots, two passes, windows


def lattice(state, at, s, f, c):
    S, k, v, new = at["S"], s["k"], s["v"] / np.linalg.norm(s["v"]), []
    rate = s.get("beta", s.get("theta"))
    for i in range(len(k)):
        drive, r = {"encode.": (k[i] - S[i] @ v, v), "similarity.": (k[i], v)}.get(c.removeprefix("rated_"), (k[i], v - S.T @ k))
        t = drive * (r - (S[i] @ r) * S[i])
        step = rate * t
        if at is not state:  # a frozen gradient is projected on the tangent of the running slot
            g = -drive * r
            step = -rate * (g - (state["S"][i] @ g) * state["S"][i])
        u = state["S"][i] + step
        new.append(u / np.linalg.norm(u))
    return {"S": np.array(new)}


def lattice_flat(state, at, s, f, c):
    """Frozen with its tangent; in a straight line where the case says linear."""
    S, linear, new = at["S"], c.startswith("lattice_linear"), []
    for i in range(len(s["k"])):
        r = s["v"] / np.linalg.norm(s["v"]) - S.T @ s["k"]
        step = s["beta"] * s["k"][i] * (r - (S[i] @ r) * S[i])
        new.append((S[i] if at is state else state.get("Z", state["S"])[i]) + step)
    rows = [u / np.linalg.norm(u) for u in new]
    return {"S": np.array(rows)} | ({"Z": np.array(new)} if linear else {})


FLAT = Rule(lattice_flat, lambda state, q, f, c: state["S"].T @ q)
LATTICE = Rule(lattice, lambda state, q, f, c: state["S"].T @ q)


def nsilu(z):
    s = silu(z)
    return s / np.sqrt(s @ s + 1e-6)


def trellis(state, at, s, f, c):
    S_K, S_V = state["S_K"].copy(), state["S_V"].copy()
    x = s["x"] / np.linalg.norm(s["x"])
    e = S_K @ x - s["k"]
    S_K = (s["rho"] - 0.01 * s["theta"]) * S_K - s["theta"] * np.outer(e, x)
    z = nsilu(S_K @ x)
    e = S_V @ z - s["v"]
    return {"S_K": S_K, "S_V": (s["rho"] - 0.01 * s["theta"]) * S_V - s["theta"] * np.outer(e, z)}


TRELLIS = Rule(trellis, lambda state, q, f, c: state["S_V"] @ nsilu(state["S_K"] @ q))


def orthogonal(S, steps=5, eps=1e-7):
    """Newton-Schulz through the singular values, on which it acts as a polynomial."""
    U, sigma, V = np.linalg.svd(S, full_matrices=False)
    sigma = sigma / (np.sqrt(np.sum(S * S)) + eps)
    for _ in range(steps):
        sigma = 3.4445 * sigma - 4.7750 * sigma**3 + 2.0315 * sigma**5
    return U @ np.diag(sigma) @ V


def phi(k, c):
    if c != "poly.":
        return k
    return np.array([1.0, *k] + [k[i] * k[j] / 2 for i in range(4) for j in range(i, 4)])


def atlas(state, at, s, f, c):
    ks, vs = np.vstack([state["win_k"], s["k"]]), np.vstack([state["win_v"], s["v"]])
    G = np.zeros_like(state["M"])
    for k, v in zip(ks, vs):
        if np.any(k):
            G += 2 / int(f[c + "c"]) * np.outer(state["M"] @ phi(k, c) - v, phi(k, c))
    if f[c + "inside"]:
        S = s["eta"] * state["S"] - s["theta"] * G
        M = s["rho"] * state["M"] + S
    else:
        S = s["eta"] * state["S"] + G
        M = s["rho"] * state["M"] - s["theta"] * (orthogonal(S) if f[c + "steps"] else S)
    return {"M": M, "S": S, "win_k": ks[1:], "win_v": vs[1:]}


ATLAS = Rule(atlas, lambda state, q, f, c: state["M"] @ phi(q, c))


def omega(state, at, s, f, c):
    w = f[c + "W_omega"] @ silu(np.concatenate([s["k"], s["v"]]))
    S = s["eta"] * state["S"] - s["theta"] * np.outer(w, s["k"])
    return {"M": s["rho"] * state["M"] + S, "S": S}


OMEGA = Rule(omega, lambda state, q, f, c: state["M"] @ q)
