"""The forms that the papers print, beside those of the pages: Titans with a learned start and a loss without a half,
YAAD, MONETA and MEMORA with a residual network, TNT with stale states and with two local memories, Atlas with learned
weights of a window, polynomial features and a deep memory, OmegaNet, the windowed similarity, deep linear attention, and
the self-referential memory that erases twice, reads after its write, and has chunks of two lengths.

Windows are kept as lists of past tokens and states in chunks as a table of the states at all tokens, from which the one
at the chunk's start is taken by its number; inner gradients come from jax.grad.
"""

import jax
import jax.numpy as jnp
import numpy as np

from emit import drawer, emit
from rules import K, short_conv, unit
from vector_file import File

D, D_K, D_V, D_H = 6, 4, 3, 5
sigmoid, softplus = jax.nn.sigmoid, jax.nn.softplus
SQUASH = {"rho": sigmoid, "theta": softplus, "eta": sigmoid}


def front(p, x, tails, pos, gates, conv_v=False, conv=True, feature=None):
    """Keys, queries, values and gates of a call, and the tails after it."""
    after = {}
    k, q, v = (x @ p["W_" + n].T for n in "KQV")
    if conv:
        k, after["tail_k"] = short_conv(k, tails["tail_k"], pos, p["c_K"], p["b_K"])
        q, after["tail_q"] = short_conv(q, tails["tail_q"], pos, p["c_Q"], p["b_Q"])
    if conv_v:
        v, after["tail_v"] = short_conv(v, tails["tail_v"], pos, p["c_V"], p["b_V"])
    k, q = unit(k), unit(q)
    kv = jnp.concatenate([k, v], axis=-1)
    s = {g: SQUASH[g](kv @ p["w_" + g] + p["b_" + g]) for g in gates}
    if feature:
        k, q = (jax.vmap(lambda z: feature(p, z))(a) for a in (k, q))
    return s | {"k": k, "q": q, "v": v}, {n + "_T": t for n, t in after.items()}


def run(step, state, s):
    """A loop in Python: states after every token, and the answers."""
    ys = []
    for t in range(s["k"].shape[0]):
        state, y = step(state, {n: a[t] for n, a in s.items()}, t)
        ys.append(y)
    return jnp.stack(ys), state


def ends(state, names):
    return {n + "_T": state[n] for n in names}


def gelu(z):
    return 0.5 * z * (1 + jax.scipy.special.erf(z / np.sqrt(2)))


def normed(z):
    e = z - jnp.mean(z)
    return e / jnp.sqrt(jnp.mean(e * e) + 1e-5)


def titans(p, x, s, pos):
    f, tails = front(p, x, s, pos, ("rho", "theta", "eta"), conv_v=True)

    def step(c, t, _):
        S = t["eta"] * c["S"] - t["theta"] * jax.grad(lambda M: jnp.sum((M @ t["k"] - t["v"]) ** 2))(c["M"])
        M = t["rho"] * c["M"] + S
        return {"M": M, "S": S}, M @ t["q"]

    y, c = run(step, {n: s[n] for n in ("M", "S")}, f)
    return {"y": y} | ends(c, ("M", "S")) | tails


# Networks with a residual: x + LN(W2 gelu(W1 x)). The slope is carried back by jax.vjp.


def network(W, z):
    return z + normed(W["W2"] @ gelu(W["W1"] @ z))


def residual(slope, image, join, p, x, s, pos):
    f, tails = front(p, x, s, pos, ("rho", "theta"), conv_v=True)
    f["x"] = x

    def step(c, t, _):
        y, back = jax.vjp(lambda W: network(W, t["k"]), {n: image(A) for n, A in c.items()})
        g = back(slope(p, y, t))[0]
        c = {n: join(A, g[n], t) for n, A in c.items()}
        return c, network({n: image(A) for n, A in c.items()}, t["q"])

    y, c = run(step, {n: s[n] for n in ("W1", "W2")}, f)
    return {"y": y} | ends(c, ("W1", "W2")) | tails


def plain(A, g, t):
    return t["rho"] * A - t["theta"] * g


def switch(p, y, t):
    r, edge = y - t["v"], softplus(p["w_delta"] @ t["x"] + p["b_delta"])
    return jnp.where(jnp.sum(r * r) <= edge**2, r, edge * jnp.sign(r))


def cubic(p, y, t):
    r = y - t["v"]
    return 3 * jnp.tanh(10 * r) * (r * r + 1e-6)


def printed_map(A):
    return A / jnp.sqrt(jnp.sum(A**4) + 1e-12)  # the square of the 4-norm


def rows(A, g, t):
    return jax.nn.softmax(t["rho"] * jnp.log(jnp.maximum(A, 1e-8)) - t["theta"] * g, axis=-1)


# TNT. In a chunk every gradient is taken at the state with which it began.


def error(M, t):
    return jnp.outer(M @ t["k"] - t["v"], t["k"])


def local(c, t, n, name, start, C, S):
    """One local memory: the state after token n of the context, its projection, and the chunk's start."""
    W = jnp.where(n % S == 0, start, c["W" + name])
    first = (n % S) % C == 0
    at = jnp.where(first, W, c["W_c" + name])
    P = jnp.where(first, 0, c["P" + name]) + jnp.outer(t["k"], t["k"])
    W = W - t["theta"] * error(at, t)
    return {"W" + name: W, "W_c" + name: at, "P" + name: P}, W @ (P @ t["q"])


def tnt(locals_, C_G, p, x, s, pos):
    f, tails = front(p, x, s, pos, ("theta",))
    names = ["V", "V_c"] + [a + n for n in locals_ for a in ("W", "W_c", "P")]

    def step(c, t, n):
        at = jnp.where(n % C_G == 0, c["V"], c["V_c"])
        new, y = {"V": c["V"] - t["theta"] * error(at, t), "V_c": at}, at @ t["q"]
        for name, (C, S) in locals_.items():
            own, more = local(c, t, n, name, p["W" + name + "_0"], C, S)
            new, y = new | own, y + more
        return new, y

    y, c = run(step, {n: s[n] for n in names}, f)
    return {"y": y} | ends(c, names) | tails


def tnt_locals(lengths, C_G, p, x, s, pos):
    """The same with the local memories in one array."""
    theirs = {"W": "R", "W_c": "R_c", "P": "P"}
    each = lambda a, suffix: {f"{n}_{i}{suffix}": a[own + suffix][i] for i in range(len(lengths)) for n, own in theirs.items() if own + suffix in a}
    out = tnt({f"_{i}": c for i, c in enumerate(lengths)}, C_G, p | each(p, "_0"), x, s | each(s, ""), pos)
    ours = {own + "_T": jnp.stack([out.pop(f"{n}_{i}_T") for i in range(len(lengths))]) for n, own in theirs.items()}
    return out | ours


# Windows: the last w tokens, oldest first; before the call there is nothing.


def series(p, z):
    """The monomials up to degree two in the order of the page, each degree with a number of its own. Pairs stand by their
    distance on a circle of n entries."""
    n = z.shape[0]
    pairs = jnp.stack([0.5 * z[i] * z[(i + s) % n] for i in range(n) for s in range(n // 2)])
    across = jnp.stack([0.5 * z[(s + n // 2) % n] * z[s] for s in range(n // 2)])
    return jnp.concatenate([jnp.array([p["a0"]]), p["a1"] * z, p["a2"] * pairs, p["a2"] * across])


def newton_schulz(S):
    X = S / (jnp.sqrt(jnp.sum(S * S)) + 1e-7)
    for _ in range(5):
        A = X @ X.T if X.shape[0] <= X.shape[1] else X.T @ X
        B = -4.7750 * A + 2.0315 * A @ A
        X = 3.4445 * X + (B @ X if X.shape[0] <= X.shape[1] else X @ B)
    return X


def window(f, w):
    """For every token the tokens that it sees, with their distance."""
    return lambda t: [({n: a[i] for n, a in f.items()}, t - i) for i in range(max(0, t - w + 1), t + 1)]


def atlas(w, p, x, s, pos):
    f, _ = front(p, x, s, pos, THREE, conv=False, feature=series)
    f["x"] = x
    see = window(f, w)

    def step(c, t, n):
        def loss(M):
            return sum(sigmoid(p["w_gamma"] @ o["x"] + p["p_gamma"][age]) * jnp.sum((M @ o["k"] - o["v"]) ** 2) for o, age in see(n))

        S = t["eta"] * c["S"] + jax.grad(loss)(c["M"])
        M = t["rho"] * c["M"] - jnp.minimum(t["theta"], 0.1) * newton_schulz(S)
        return {"M": M, "S": S}, M @ t["q"]

    y, c = run(step, {n: s[n] for n in ("M", "S")}, f)
    return {"y": y} | ends(c, ("M", "S"))


def atlas_deep(w, p, x, s, pos):
    f, _ = front(p, x, s, pos, THREE, conv=False)
    f["x"] = x
    see = window(f, w)
    answer = lambda W, z: z + W["W2"] @ gelu(W["W1"] @ z)

    def step(c, t, n):
        W = {m: c[m] for m in ("W1", "W2")}
        g = jax.grad(lambda W: sum(sigmoid(p["w_gamma"] @ o["x"] + p["p_gamma"][age]) * jnp.sum((answer(W, o["k"]) - o["v"]) ** 2)
                                   for o, age in see(n)))(W)
        S = {m: t["eta"] * c["S" + m[1]] + g[m] for m in W}
        W = {m: t["rho"] * W[m] - t["theta"] * newton_schulz(S[m]) for m in W}
        return W | {"S" + m[1]: S[m] for m in S}, answer(W, t["q"])

    names = ("W1", "W2", "S1", "S2")
    y, c = run(step, {n: s[n] for n in names}, f)
    return {"y": y} | ends(c, names)


def omega(corrects, w, p, x, s, pos):
    """OmegaNet by its transition matrix; without it the windowed similarity."""
    f, _ = front(p, x, s, pos, ("rho", "theta"), conv=False)
    see = window(f, w)

    def step(c, t, n):
        A = t["rho"] * jnp.eye(D_K) - corrects * sum(o["theta"] * jnp.outer(o["k"], o["k"]) for o, _ in see(n))
        M = c["M"] @ A + sum(o["theta"] * jnp.outer(o["v"], o["k"]) for o, _ in see(n))
        return {"M": M}, M @ t["q"]

    y, c = run(step, {"M": s["M"]}, f)
    return {"y": y} | ends(c, ("M",))


def deep_linear(p, x, s, pos):
    f, _ = front(p, x, s, pos, ("rho", "theta"), conv=False, feature=series)
    answer = lambda W, z: W["W2"] @ jax.nn.silu(W["W1"] @ z)

    def step(c, t, _):
        g = jax.grad(lambda W: answer(W, t["k"]) @ t["v"])(c)
        c = {n: t["rho"] * W + t["theta"] * g[n] for n, W in c.items()}
        return c, answer(c, t["q"])

    y, c = run(step, {n: s[n] for n in ("W1", "W2")}, f)
    return {"y": y} | ends(c, ("W1", "W2"))


# Self-referential memories: the table holds the memories before every token of the call.

MEMORIES = ("k", "v", "alpha", "eta", "m")


def self_modifying(C, C_m, p, x, s, pos):
    """Equation 88; with C and C_m above one the chunk form, whose states at a chunk's start are states too."""
    names = ["M_" + n for n in MEMORIES]
    now, table = {n: s[n] for n in names}, []
    ys = []
    for t in range(x.shape[0]):
        table.append(now)
        at = {n: table[t - t % (C_m if n == "M_m" else C)][n] for n in names}
        z = x[t]
        k, v, q = unit(at["M_k"] @ z), unit(at["M_v"] @ z), unit(p["W_Q"] @ z)
        kept = jnp.mean(at["M_alpha"] @ z) + p["b_rho"]
        rho, theta = sigmoid(kept), jnp.minimum(softplus(jnp.mean(at["M_eta"] @ z) + p["b_theta"]), sigmoid(-kept) / 4)
        ys.append(now["M_m"] @ q)
        erased = rho * jnp.eye(D) - theta * jnp.outer(k, k)
        now = {n: now[n] @ erased - theta * jnp.outer(at[n] @ k - at[n] @ v, k) for n in names}
    out = {"y": jnp.stack(ys)} | {n + "_T": M for n, M in now.items()}
    if C > 1:
        last = x.shape[0] - 1
        out |= {"B" + n[1:] + "_T": table[last - last % (C_m if n == "M_m" else C)][n] for n in names}
    return out


def read_later(p, x, s, pos):
    """Phase 2 with six memories, every one taught the value, and the answer read after the write."""
    names = ["M_" + n for n in (*MEMORIES, "q")]
    start = {n: p["N" + n[1:]] + (jnp.eye(D) if n in ("M_k", "M_v", "M_q") else 0) for n in names}
    now, ys = {n: s[n] for n in names}, []
    for z in x:
        k, v, q = (unit(now["M_" + n] @ z) for n in "kvq")
        kept = jnp.mean(now["M_alpha"] @ z) + p["b_rho"]
        rho, theta = sigmoid(kept), jnp.minimum(softplus(jnp.mean(now["M_eta"] @ z) + p["b_theta"]), sigmoid(-kept) / 4)
        now = {n: rho * M + (1 - rho) * start[n] - theta * jnp.outer(M @ k - v, k) for n, M in now.items()}
        ys.append(now["M_m"] @ q)
    return {"y": jnp.stack(ys)} | {n + "_T": M for n, M in now.items()}


def nested(p, x, s, pos):
    f, tails = front(p, x, s, pos, ("rho", "theta"))

    def step(c, t, n):
        M = c["N"] if n == 0 else c["M"]
        M = t["rho"] * M - t["theta"] * error(M, t)
        N = c["N"] - 0.125 * t["theta"] * error(c["N"], t)
        return {"M": M, "N": N}, (M + N) @ t["q"]

    y, c = run(step, {"N": s["N"], "M": 0 * s["N"]}, f)
    return {"y": y} | ends(c, ("N",)) | tails


# Knobs in a rule whose other knobs are plain: a matrix M, the decay rho, descent.


def knob(form, p, x, s, pos):
    f, _ = front(p, x, s, pos, ("theta",) if form == "tied" else TWO, conv=False)
    f["x"] = x

    def step(c, t, _):
        M = t["rho"] * c["M"] if form == "order" else c["M"]
        r = M @ t["k"] - t["v"]
        slope = {
            "worst": lambda: r * (1 + 0.1 / jnp.sqrt(r @ r + 1e-12)), "square": lambda: 2 * r, "factor": lambda: cubic(p, M @ t["k"], t),
            "token": lambda: switch(p, M @ t["k"], t), "tied": lambda: r, "order": lambda: r,
        }[form]()
        U = -t["theta"] * jnp.outer(slope, t["k"])
        if form == "tied":  # the minimiser of <W, G> + |W - M|^2 / 2 theta + |W|^2 / 2 beta + |W|_1 / alpha, beta = 1, alpha = 100
            kept = 1 / (1 + t["theta"])
            Z = kept * (M + U)
            M = jnp.sign(Z) * jnp.maximum(jnp.abs(Z) - kept * t["theta"] / 100, 0)
        else:
            M = (M if form == "order" else t["rho"] * M) + U
        return {"M": M}, M @ t["q"]

    y, c = run(step, {"M": s["M"]}, f)
    return {"y": y} | ends(c, ("M",))


def algorithm(form, p, x, s, pos):
    f, _ = front(p, x, s, pos, THREE, conv=False)
    silu = jax.nn.silu

    def step(c, t, _):
        G, new = error(c["M"], t), {}
        if form == "inside":
            new["S"] = t["eta"] * c["S"] - t["theta"] * G
            U = newton_schulz(new["S"])
        elif form == "erased":
            new["S"] = c["S"] @ (t["eta"] * jnp.eye(D_K) - G.T @ G) - t["theta"] * G
            U = new["S"]
        else:
            g = jax.grad(lambda AB: jnp.sum(silu(G @ AB[0].T) @ AB[1].T))((c["A"], c["B"]))
            new = {"A": t["eta"] * c["A"] - 0.1 * g[0], "B": t["eta"] * c["B"] - 0.1 * g[1]}
            U = t["theta"] * silu(G @ new["A"].T) @ new["B"].T
        new["M"] = t["rho"] * c["M"] + U
        return new, new["M"] @ t["q"]

    y, c = run(step, s, f)
    return {"y": y} | ends(c, s)


def structure(gated, p, x, s, pos):
    f, _ = front(p, x, s, pos, TWO, conv=False)
    answer = lambda W, z: z + W["W2"] @ (gelu(W["W1"] @ z) * (W["W3"] @ z if gated else 1))

    def step(c, t, _):
        g = jax.grad(lambda W: 0.5 * jnp.sum((answer(W, t["k"]) - t["v"]) ** 2))(c)
        c = {n: t["rho"] * W - t["theta"] * g[n] for n, W in c.items()}
        return c, answer(c, t["q"])

    y, c = run(step, s, f)
    return {"y": y} | ends(c, s)


def shapes(d_k, d_v, gates, conv=True, conv_v=False):
    out = {"W_K": (d_k, D), "W_Q": (d_k, D), "W_V": (d_v, D)}
    if conv:
        out |= {"c_K": (K, d_k), "c_Q": (K, d_k), "b_K": (d_k,), "b_Q": (d_k,)}
    if conv_v:
        out |= {"c_V": (K, d_v), "b_V": (d_v,)}
    for g in gates:
        out |= {"w_" + g: (d_k + d_v,), "b_" + g: ()}
    return out


def tails(d_k, d_v=None):
    out = {"tail_k": (K - 1, d_k), "tail_q": (K - 1, d_k)}
    return out | ({"tail_v": (K - 1, d_v)} if d_v else {})


TWO, THREE = ("rho", "theta"), ("rho", "theta", "eta")
LAYERS = {"W1": (D_H, D_K), "W2": (D_K, D_H)}
BARE, BARE3 = shapes(D_K, D_V, TWO, conv=False), shapes(D_K, D_V, THREE, conv=False)
ONE = {"M": (D_V, D_K)}
RESIDUAL = (shapes(D_K, D_K, TWO, conv_v=True), LAYERS | tails(D_K, D_K))
PHI = 1 + D_K + D_K * D_K // 2 + D_K // 2
SERIES = {"a0": (), "a1": (), "a2": ()}
GAMMA = {"w_gamma": (D,), "p_gamma": (3,)}
SQUARES = {"M_" + n: (D, D) for n in MEMORIES}
SELF = {"W_Q": (D, D), "b_rho": (), "b_theta": ()}


def tnt_states(names):
    return {"V": (D_V, D_K), "V_c": (D_V, D_K)} | {a + n: (D_K, D_K) if a == "P" else (D_V, D_K) for n in names for a in ("W", "W_c", "P")}


# name: parameters, states, function; the numbers of tokens
CASES = {
    "titans": (shapes(D_K, D_V, THREE, conv_v=True), {"M": (D_V, D_K), "S": (D_V, D_K)} | tails(D_K, D_V), titans),
    "yaad": (RESIDUAL[0] | {"w_delta": (D,), "b_delta": ()}, RESIDUAL[1], lambda *a: residual(switch, lambda A: A, plain, *a)),
    "moneta": (*RESIDUAL, lambda *a: residual(cubic, printed_map, plain, *a)),
    "memora": (*RESIDUAL, lambda *a: residual(lambda p, y, t: 2 * (y - t["v"]), lambda A: A, rows, *a)),
    "tnt": (shapes(D_K, D_V, ("theta",)) | {"W_0": (D_V, D_K)}, tnt_states([""]) | tails(D_K), lambda *a: tnt({"": (2, 6)}, 4, *a)),
    "locals": (shapes(D_K, D_V, ("theta",)) | {"R_0": (3, D_V, D_K)}, {"V": (D_V, D_K), "V_c": (D_V, D_K), "P": (3, D_K, D_K)}
               | {n: (3, D_V, D_K) for n in ("R", "R_c")} | tails(D_K), lambda *a: tnt_locals([(1, 3), (2, 6), (4, 12)], 4, *a)),
    "learned": (BARE3 | SERIES | GAMMA, {"M": (D_V, PHI), "S": (D_V, PHI)}, lambda *a: atlas(3, *a)),
    "deep": (shapes(D_K, D_K, THREE, conv=False) | GAMMA, LAYERS | {"S1": (D_H, D_K), "S2": (D_K, D_H)}, lambda *a: atlas_deep(3, *a)),
    "omega": (BARE, ONE, lambda *a: omega(1, 3, *a)),
    "similarity": (BARE, ONE, lambda *a: omega(0, 3, *a)),
    "dla": (BARE | SERIES, {"W1": (D_H, PHI), "W2": (D_V, D_H)}, deep_linear),
    "twice": (SELF, SQUARES, lambda *a: self_modifying(1, 1, *a)),
    "later": ({"b_rho": (), "b_theta": ()} | {"N_" + n: (D, D) for n in (*MEMORIES, "q")}, SQUARES | {"M_q": (D, D)}, read_later),
    "chunks": (SELF, SQUARES, lambda *a: self_modifying(3, 2, *a)),
    "copy": (shapes(D_K, D_V, TWO), {"N": (D_V, D_K)} | tails(D_K), nested),
} | {n: (BARE, ONE, lambda *a, n=n: knob(n, *a)) for n in ("worst", "square", "factor", "order")} | {
    "tied": (shapes(D_K, D_V, ("theta",), conv=False), ONE, lambda *a: knob("tied", *a)),
    "token": (BARE | {"w_delta": (D,), "b_delta": ()}, ONE, lambda *a: knob("token", *a)),
    "inside": (BARE3, ONE | {"S": (D_V, D_K)}, lambda *a: algorithm("inside", *a)),
    "erased": (BARE3, ONE | {"S": (D_V, D_K)}, lambda *a: algorithm("erased", *a)),
    "ones": (BARE3, ONE | {"A": (D_H, D_K), "B": (D_K, D_H)}, lambda *a: algorithm("ones", *a)),
    "layers": (shapes(D_K, D_K, TWO, conv=False), LAYERS, lambda *a: structure(False, *a)),
    "gated": (shapes(D_K, D_K, TWO, conv=False), LAYERS | {"W3": (D_H, D_K)}, lambda *a: structure(True, *a)),
}
SMALL = {"b_theta": -1.5, "b_rho": 1.0}


def vectors():
    f = File(f"The forms that papers print: d={D}, d_k={D_K}, 2 sequences, float64. Written by validation/oracle/make.py.",
             "loss = sum(w * y) + sum(wX * X); grad.X is its gradient. Windows and chunks begin with the call.")
    rand = drawer("printed")
    for name, (params, states, function) in CASES.items():
        for T, tail in [(7, ""), (1, "1")]:
            prefix = f"{name}{tail}."
            values = {"x": rand(prefix + "x", (2, T, D))} | {n: rand(prefix + n, s) for n, s in params.items() if n not in SMALL or s}
            values |= {n: np.float64(SMALL[n]) for n in SMALL if params.get(n) == ()}
            values |= {n: rand(prefix + n, (2, *s)) for n, s in states.items()}
            if name == "erased":
                values["x"] = 0.3 * values["x"]  # nothing bounds what long gradients erase
            if name == "learned":
                values["b_theta"] = np.float64(-2.3)  # rates on both sides of their bound
            if name == "memora":
                values |= {n: np.asarray(jax.nn.softmax(2 * values[n], axis=-1)) for n in ("W1", "W2")}
            pos = np.array([100, 3], np.int64)

            def each(v):
                return jax.vmap(lambda x, s, pos: function(v, x, s, pos))(v["x"], {n: v[n] for n in states}, pos)

            emit(f, rand, prefix, f"T={T}", each, values, {"pos": pos})
    return f
