"""The second half of plain.py: rules with a matrix memory in which one piece is
another, the recurrences of the literature, and the exact chunk forms."""

import numpy as np
from scipy.optimize import brentq

from plain import Rule, backprop, lp, mlp, orthogonal, sigmoid, softmax


# Matrix memories with one other piece


def delta(state, at, s, f, c):
    return {"M": s["rho"] * state["M"] - s["theta"] * np.outer(at["M"] @ s["k"] - s["v"], s["k"])}


def titans(state, at, s, f, c):
    S = s["eta"] * state["S"] - s["theta"] * np.outer(at["M"] @ s["k"] - s["v"], s["k"])
    return {"M": s["rho"] * state["M"] + S, "S": S}


def linear(state, q, f, c):
    return state["M"] @ q


def biased(name):
    def step(state, at, s, f, c):
        e, v = state["M"] @ s["k"] - s["v"], s["v"]
        d = s.get("delta", f.get(c + "delta"))
        p = float(f.get(c + "p", 0))
        n = np.linalg.norm(e)
        b = {
            "l2": lambda: e, "dot": lambda: -v, "huber": lambda: np.clip(e, -d, d),
            "huber_norm": lambda: e * min(1, d / n), "huber_sign": lambda: e if n <= d else d * np.sign(e),
            "l1": lambda: np.tanh(10 * e), "lp": lambda: lp(e, p), "lp_smooth": lambda: e * (e * e + 1e-6) ** (p / 2 - 1),
            "kl": lambda: softmax(e + v) - softmax(v / f[c + "tau"]),
        }[name]()
        return {"M": s["rho"] * state["M"] - s["theta"] * np.outer(b, s["k"])}

    return Rule(step, linear)


def root(w, u, kind, total):
    """Row w phi(-zeta - u) with the zeta that gives the row its sum."""
    value = {"tlogt": lambda z: w * np.exp(-z - u - 1), "chi2": lambda z: w * np.maximum(1 - z - u, 0),
             "log": lambda z: w / (z + u), "root": lambda z: w / (z + u) ** 2}[kind]
    low = np.max(-u) + 1e-9 if kind in ("log", "root") else -50.0
    zeta = brentq(lambda z: np.sum(value(z)) - total, low, 500.0, xtol=1e-15, rtol=1e-15, maxiter=1000)
    return value(zeta)


def kept(name):
    weights = {
        "sigmoid": lambda A, f, c: sigmoid(A), "sigmoid_euclidean": lambda A, f, c: sigmoid(A),
        "printed4": lambda A, f, c: A / np.sqrt(np.sum(A**4) + 1e-12),
        "dual_log": lambda A, f, c: np.exp(A), "dual_power": lambda A, f, c: A * np.abs(A),
        "mirror4": lambda A, f, c: A**3 / np.sqrt(np.sum(A**4)) / 3,
        "mirror3": lambda A, f, c: np.sign(A) * A**2 / np.cbrt(np.sum(np.abs(A) ** 3)) / 2,
    }.get(name, lambda A, f, c: A)

    def step(state, at, s, f, c):
        A, rho, theta = state["M"], s.get("rho"), s["theta"]
        g = np.outer(weights(A, f, c) @ s["k"] - s["v"], s["k"])
        out = {n: v for n, v in state.items()}
        if name.startswith("kl"):
            new = float(f[c + "c"]) * softmax(rho * np.log(A) - theta * g)
        elif name == "elastic":
            z = rho * A - theta * g
            new = np.sign(z) * np.maximum(np.abs(z) - theta * f[c + "l1"], 0)
        elif name == "sphere":
            t = -theta * (g - np.sum(A * g, axis=1, keepdims=True) * A)
            new = (A + t) / np.linalg.norm(A + t, axis=1, keepdims=True)
        elif name == "sigmoid_euclidean":
            W = sigmoid(A)
            new = rho * A - theta * g * W * (1 - W)
        elif name == "bregman_log":
            new = A * np.exp(-theta * g)
        elif name == "bregman_logit":
            new = A * np.exp(-theta * g) / (1 - A + A * np.exp(-theta * g))
        elif name == "bregman_power":
            u = np.sign(A) * np.sqrt(np.abs(A)) - theta * g
            new = u * np.abs(u)
        elif name == "bregman_identity":
            new = A - theta * g
        elif name.startswith("divergence"):
            new = np.array([root(w, u, name.split("_")[1].replace("log2", "log"), float(f[c + "c"])) for w, u in zip(A, theta * g)])
        elif name == "anchored":
            new = rho * A - theta * (g + 0.06 * (A - state["M_b"]) + 0.04 * A)
        else:
            new = rho * A - theta * g
        return out | {"M": new}

    return Rule(step, lambda state, q, f, c: weights(state["M"], f, c) @ q)


def algorithm(name):
    def step(state, at, s, f, c):
        k, rho, theta, eta = s["k"], s.get("rho"), s["theta"], s.get("eta")
        if name.startswith("implicit"):
            prior = rho * state["M"]
            e = (prior if name == "implicit" else state["M"]) @ k - s["v"]
            return {"M": prior - theta / (1 + theta * k @ k) * np.outer(e, k)}
        if name.startswith("ftrl"):
            return {"A": state["A"] - theta * np.outer(answer(state["A"], f, c) @ k - s["v"], k)}
        M = state["M"]
        g = np.outer(M @ k - s["v"], k)
        if name.startswith("dgd"):
            target = -s["v"] if name == "dgd_dot" else M @ k - s["v"]
            return {"M": rho * M - theta / (1 + theta) * np.outer(M @ k + target, k)}
        if name == "gd":
            return {"M": rho * M - theta * g}
        if name == "deep_momentum":
            N1, N2 = state["N1"], state["N2"]
            d1, d2 = np.zeros_like(N1), np.zeros_like(N2)
            for row in g:
                a, b = backprop(N1, N2, row, lambda y: y - row)
                d1, d2 = d1 + a, d2 + b
            N1, N2 = N1 - 0.1 * d1, N2 - 0.1 * d2
            return {"N1": N1, "N2": N2, "M": rho * M - theta * np.array([mlp(N1, N2, row) for row in g])}
        if name == "newton_schulz":
            S = eta * state["S"] + g
            return {"S": S, "M": rho * M - theta * orthogonal(S)}
        S = state["S"]
        if name == "delta_momentum":
            S = min(max(eta - np.sum(g * g), 1e-6), 1 - 1e-6) * S - theta * g
        elif name == "delta_momentum_key":
            S = S @ (eta * np.eye(len(k)) - theta * np.outer(k, k)) - theta * g
        else:
            S = eta * S - theta * g
        return {"S": S, "M": rho * M + S}

    def answer(A, f, c):
        if name == "ftrl_l2":
            return 0.8 * A
        return softmax(A) if name == "ftrl_entropy" else np.sign(A) * np.maximum(np.abs(A) - 0.2, 0)

    read = (lambda state, q, f, c: answer(state["A"], f, c) @ q) if name.startswith("ftrl") else linear
    return Rule(step, read)


# Recurrences, one sequence by loops: the answers and what the call leaves


def retnet(f, c, l):
    heads, d_v, d_c = f[c + "state.A"].shape[1:]
    S, y = f[c + "state.A"][l] + 1j * f[c + "state.B"][l], []
    for x in f[c + "x"][l]:
        z = []
        for h in range(heads):
            v = f[c + "W_V"][h] @ x
            key = (f[c + "W_A"][h] + 1j * f[c + "W_B"][h]) @ x
            S[h] = (1 - 1 / 2 ** (5 + h)) * S[h] * np.exp(1j / 10000 ** (np.arange(d_c) / d_c)) + np.outer(v, key.conj())
            o = (S[h] @ ((f[c + "W_C"][h] + 1j * f[c + "W_E"][h]) @ x)).real
            g = f[c + "W_G"][h] @ x
            z += list(g * sigmoid(g) * (o - o.mean()) / np.sqrt(o.var() + 1e-5))
        y.append(f[c + "W_O"] @ np.array(z))
    return y, {"A": S.real, "B": S.imag}


def hgrn2(f, c, l):
    M, y = f[c + "state.M"][l], []
    for x in f[c + "x"][l]:
        floor = sigmoid(f[c + "b_F"])
        keep = floor + (1 - floor) * sigmoid(f[c + "W_F"] @ x)
        q = f[c + "W_Q"] @ x
        M = M @ np.diag(keep) + np.outer(f[c + "W_V"] @ x, 1 - keep)
        y.append(M @ (q * sigmoid(q)))
    return y, {"M": M}


def comba(f, c, l):
    M, y, ends = f[c + "state.M"][l], [], {}
    rows = {}
    for n in "KQV":
        before = f[c + "tail_" + n.lower()][l].copy()
        before[: max(0, 3 - f[c + "pos"][l])] = 0
        rows[n] = np.concatenate([before, f[c + "x"][l] @ f[c + "W_" + n].T])
        ends["tail_" + n.lower()] = rows[n][-3:]
    for t, x in enumerate(f[c + "x"][l]):
        z = {n: f[c + "b_" + n] + sum(f[c + "c_" + n][a] * rows[n][3 + t - a] for a in range(4)) for n in rows}
        k, q, v = (z[n] * sigmoid(z[n]) for n in "KQV")
        k, q = k / np.linalg.norm(k), q / np.linalg.norm(q)
        alpha = np.exp(-np.exp(f[c + "a"]) * np.log1p(np.exp(f[c + "w_alpha"] @ x + f[c + "b_alpha"])))
        beta, p = sigmoid(f[c + "w_beta"] @ x), sigmoid(f[c + "s_in"]) * k
        M = alpha * M
        M = M + beta * np.outer(v - M @ p, k)
        y.append(M @ (q - f[c + "s_out"] * p) / 2)
    return y, ends | {"M": M}


RECURRENCES = {"retnet": retnet, "hgrn2": hgrn2, "comba": comba}


def recurrence(f, c):
    """y and what the call leaves, of both sequences."""
    both = [RECURRENCES[c.strip(".1")](f, c, l) for l in range(2)]
    return np.array([y for y, _ in both]), {n: np.array([e[n] for _, e in both]) for n in both[0][1]}


def recurrence_loss(f, c):
    y, ends = recurrence(f, c)
    return np.sum(f[c + "w"] * y) + sum(np.sum(f[c + "w" + n + "_T"] * v) for n, v in ends.items())


# Exact chunk forms, math.md 6.2 and 6.3


def chunk_forms(k, q, v, rho, theta, eta, M, S, C):
    """y, M and S in chunks of C tokens; eta None for the delta rule."""
    y = []
    for a in range(0, len(k), C):
        part = slice(a, a + C)
        out, M, S = one_chunk(k[part], q[part], v[part], rho[part], theta[part], None if eta is None else eta[part], M, S)
        y.append(out)
    return np.concatenate(y), M, S


def one_chunk(K, Q, V, rho, theta, eta, M0, S0):
    T = len(K)
    g, h, p = np.ones(T + 1), np.zeros(T + 1), np.ones(T + 1)
    c, e = np.zeros((T + 1, T)), np.zeros((T + 1, T))
    for t in range(T):
        g[t + 1] = rho[t] * g[t]
        if eta is not None:
            p[t + 1] = eta[t] * p[t]
            h[t + 1] = rho[t] * h[t] + p[t + 1]
            e[t + 1] = eta[t] * e[t]
        e[t + 1, t] = 1
        if eta is None:
            c[t + 1] = rho[t] * c[t]
            c[t + 1, t] = 1
        else:
            c[t + 1] = rho[t] * c[t] + e[t + 1]
    A = theta[:, None] * c[:-1] * (K @ K.T)
    R = theta[:, None] * (V - g[:-1, None] * (K @ M0.T) - h[:-1, None] * (K @ S0.T))
    U = np.linalg.solve(np.eye(T) + np.tril(A, -1), R)
    Y = g[1:, None] * (Q @ M0.T) + h[1:, None] * (Q @ S0.T) + (c[1:] * (Q @ K.T)) @ U
    M = g[-1] * M0 + h[-1] * S0 + (c[-1][:, None] * U).T @ K
    return Y, M, p[-1] * S0 + (e[-1][:, None] * U).T @ K
