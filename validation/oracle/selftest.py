#!/usr/bin/env python3
"""Holds the oracle itself: finite differences, adjoints written by hand from
math.md in numpy loops, calls cut into chunks, and validation/bench/c/rows.c.

    python3 validation/oracle/selftest.py
"""

import ctypes
import pathlib
import subprocess
import sys
import tempfile

import make  # sets up jax
import jax
import jax.numpy as jnp
import numpy as np

import attention
import models
import ops
import plain_tests
import rules
import streams
from vector_file import parse

HERE = pathlib.Path(__file__).parent
failures = 0


def expect(what, error, bound):
    global failures
    ok = bool(error <= bound)  # a NaN fails
    failures += not ok
    print(f"{'ok  ' if ok else 'FAIL'} {what}: {float(error):.2g} (bound {bound:.0e})")


def relative(a, b):
    a, b = np.asarray(a, float), np.asarray(b, float)
    return np.linalg.norm(a - b) / max(np.linalg.norm(b), 1e-300)


def load(name):
    return parse((HERE / "vectors" / f"{name}.txt").read_text("utf-8"))


# The rules again, in plain numpy loops over sequences, tokens and taps.


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def plain_forward(f, c, rule):
    """y, M_T, S_T of case c, and what the adjoint needs."""
    x, M = f[c + "x"], f[c + "M0"].copy()
    S = f[c + "S0"].copy() if "S" in rule.state else None
    L, T, _ = x.shape
    record = [[] for _ in range(L)]
    y = np.zeros((L, T, M.shape[1]))

    def stream(l, t, n):
        raw = lambda s: f[c + "W_" + n] @ x[l, s]
        if not rule.conv:
            return raw(t)
        z = f[c + "b_" + n].copy()
        for a in range(4):
            if t - a >= 0:
                z += f[c + "c_" + n][a] * raw(t - a)
            elif a - t <= f[c + "pos"][l]:
                z += f[c + "c_" + n][a] * f[c + "tail_" + n.lower()][l, 3 + t - a]
        z = z * sigmoid(z)
        return z / max(np.linalg.norm(z), 1e-8)

    for l in range(L):
        for t in range(T):
            k, q, v = stream(l, t, "K"), stream(l, t, "Q"), f[c + "W_V"] @ x[l, t]
            kv = np.concatenate([k, v])
            gate = lambda n: f[c + "w_" + n] @ kv + f[c + "b_" + n]
            r = dict(k=k, q=q, v=v, rho=sigmoid(gate("rho")), M=M[l].copy())
            if rule is rules.HEBBIAN:
                M[l] = r["rho"] * M[l] + np.outer(v, k)
            else:
                r["theta"] = min(np.log1p(np.exp(gate("theta"))), f[c + "theta_max"])
                if rule is rules.TITANS:
                    r["eta"] = sigmoid(gate("eta"))
                    r["theta"] = min(r["theta"], 1 - r["eta"])
                r["e"] = M[l] @ k - v
                write = -r["theta"] * np.outer(r["e"], k)
                if rule is rules.TITANS:
                    r["S"] = S[l].copy()
                    write = S[l] = r["eta"] * S[l] + write
                M[l] = r["rho"] * M[l] + write
            r["M_new"] = M[l].copy()
            y[l, t] = M[l] @ q
            record[l].append(r)
    return y, M, S, record


def plain_state_adjoint(f, c, rule, record):
    """Adjoints of M0 and S0 by the recurrences of math.md 1.1 to 1.3, where the
    front end plays no part."""
    GM = f[c + "wM"].copy()
    GS = f[c + "wS"].copy() if rule is rules.TITANS else None
    for l, tokens in enumerate(record):
        for t in reversed(range(len(tokens))):
            r = tokens[t]
            GM[l] += np.outer(f[c + "w"][l, t], r["q"])
            if rule is rules.HEBBIAN:
                GM[l] = r["rho"] * GM[l]
            elif rule is rules.DELTA:
                GM[l] = GM[l] @ (r["rho"] * np.eye(len(r["k"])) - r["theta"] * np.outer(r["k"], r["k"]))
            else:
                GS[l] += GM[l]
                GM[l] = r["rho"] * GM[l] - r["theta"] * np.outer(GS[l] @ r["k"], r["k"])
                GS[l] = r["eta"] * GS[l]
    return GM, GS


def test_rules():
    for rule in (rules.DELTA, rules.TITANS, rules.HEBBIAN):
        f = load(rule.name)
        for c in ("case0.", "case1.", "case2.", "case3."):
            if c + "x" not in f:
                continue
            y, M, S, record = plain_forward(f, c, rule)
            expect(f"{rule.name} {c}y, M_T", max(relative(f[c + "out.y"], y), relative(f[c + "out.M_T"], M)), 1e-13)
            GM, GS = plain_state_adjoint(f, c, rule, record)
            expect(f"{rule.name} {c}grad.M0", relative(f[c + "grad.M0"], GM), 1e-13)
            if GS is not None:
                expect(f"{rule.name} {c}S_T, grad.S0", max(relative(f[c + "out.S_T"], S), relative(f[c + "grad.S0"], GS)), 1e-13)
            plain_differences(f, c, rule)
        used = {n: f["frozen." + n] for n in ("W_Q", "c_Q", "b_Q") if "frozen." + n in f}
        ctx = {n: f["frozen." + i][0] for n, i in [("M", "M0"), ("tail_q", "tail_q")] if "frozen." + i in f}
        directional(f"{rule.name} frozen", lambda p, x: jnp.sum(f["frozen.w"][0] * rule.frozen(p, x, ctx | {"pos": 100})),
                    (used, f["frozen.x"][0]))


def plain_differences(f, c, rule):
    """Every gradient of the case against central differences of the numpy loops."""

    def loss(f):
        y, M, S, _ = plain_forward(f, c, rule)
        total = np.sum(f[c + "w"] * y) + np.sum(f[c + "wM"] * M)
        return total + (np.sum(f[c + "wS"] * S) if S is not None else 0)

    worst, eps = 0, 1e-5
    for name in [n for n in f if n.startswith(c + "grad.")]:
        target = name.replace("grad.", "")
        g, flat = f[name].ravel(), f[target].ravel()
        for i in range(0, g.size, max(1, g.size // 5)):
            values = []
            for step in (eps, -eps):
                moved = flat.copy()
                moved[i] += step
                values.append(loss({**f, target: moved.reshape(f[target].shape)}))
            fd = (values[0] - values[1]) / (2 * eps)
            worst = max(worst, abs(fd - g[i]) / max(1, abs(g[i])))
    expect(f"{rule.name} {c}gradients against differences", worst, 1e-8)


def test_attention():
    f = load("attention")
    for c, T, window, n_p, pos, _ in attention.CASES:
        x, y = f[c + "x"], np.zeros_like(f[c + "x"])
        for l in range(2):
            keys = [] if not n_p else list(f[c + "P"])
            for t in range(T):
                rows = [(f[c + "W_K"] @ p, f[c + "W_V"] @ p) for p in keys]
                for s in range(-(pos[l] if window else 0), t + 1):
                    if window and s <= t - window:
                        continue
                    if s >= 0:
                        rows.append((f[c + "W_K"] @ x[l, s], f[c + "W_V"] @ x[l, s]))
                    else:
                        rows.append((f[c + "tail_k"][l, s], f[c + "tail_v"][l, s]))
                q = f[c + "W_Q"] @ x[l, t]
                for h in range(2):
                    own = slice(3 * h, 3 * h + 3)
                    a = np.exp([q[own] @ k[own] / np.sqrt(3) for k, _ in rows])
                    y[l, t, own] = (a / a.sum()) @ np.array([v[own] for _, v in rows])
        expect(f"attention {c}y against loops", relative(f[c + "out.y"], y), 1e-13)
    one = lambda p, x, tail_k, tail_v: jnp.sum(f["case2.w"][1] * attention.attention(
        p, x, {"tail_k": tail_k, "tail_v": tail_v, "pos": 3}, 2, 12)[0])
    p = {n: f["case2." + n] for n in ("W_Q", "W_K", "W_V", "P")}
    inputs = (p, f["case2.x"][1], f["case2.tail_k"][1], f["case2.tail_v"][1])
    directional("attention case2", one, inputs)


def directional(what, function, inputs):
    """jax.grad against a central difference along one direction of all inputs."""
    leaves, tree = jax.tree.flatten(inputs)
    way = [streams.uniform(f"direction.{what}.{i}", 1, np.shape(v), -1, 1) for i, v in enumerate(leaves)]
    at = lambda h: function(*jax.tree.unflatten(tree, [v + h * u for v, u in zip(leaves, way)]))
    grads = jax.tree.leaves(jax.grad(function, tuple(range(len(inputs))))(*inputs))
    slope = sum(np.sum(g * u) for g, u in zip(grads, way))
    expect(f"{what}: gradient along a direction", abs((at(1e-5) - at(-1e-5)) / 2e-5 - slope) / max(1, abs(slope)), 1e-8)


def test_ops():
    f = load("ops")
    directional("layernorm", lambda *a: jnp.sum(f["layernorm.w"] * ops.layer_norm(*a)),
                tuple(f["layernorm." + n] for n in ("x", "gamma", "beta")))
    directional("kl", lambda *a: jnp.sum(f["kl.w"] * ops.kl_retention(*a)),
                tuple(f["kl." + n] for n in ("prior", "grad", "alpha", "theta")))
    for name, g in f.items():
        if not np.all(np.isfinite(g)):
            expect(f"ops {name} is finite", np.nan, 0)
    expect("kl_clamp: no gradient below the clamp", np.abs(f["kl_clamp.grad.prior"][[1, 2], [2, 0]]).max(), 0)
    expect("ce_none: zero", abs(f["ce_none.out.y"]) + np.abs(f["ce_none.grad.logits"]).max(), 0)
    small = f["l2rows_eps.x"][:2]
    expect("l2rows_eps: x / eps", relative(f["l2rows_eps.out.y"][:2], small / 1e-8), 1e-15)
    expect("l2rows_eps: gradient", relative(f["l2rows_eps.grad.x"][:2], f["l2rows_eps.w"][:2] / 1e-8), 1e-15)


def test_models():
    """24 tokens in one call and in three, and the gradient of the third call
    with the carried context held constant against differences."""
    for kind in "ab":
        model = models.Model(kind, d=8, heads=2, V=16, window=3)
        p = model.params()
        f = load(f"zero_{kind}_small")
        ids, targets = f["ids"].reshape(1, -1), f["targets"].reshape(1, -1)
        _, (z, after) = model.loss(p, ids, targets, model.fresh(1))
        expect(f"zero_{kind}: one call is three", relative(z[:, 16:], f["out.logits"]), 1e-13)
        for n in after:
            expect(f"zero_{kind}: {n} after it", relative(after[n], f["after." + n]), 1e-12)
        ctx = {n.removeprefix("ctx."): v for n, v in f.items() if n.startswith("ctx.")}
        directional(f"zero_{kind}", lambda p: model.loss(p, ids[:, 16:], targets[:, 16:], ctx)[0], (p,))
        quiet = [n for n in p if np.max(np.abs(f["grad." + n])) == 0]
        expect(f"zero_{kind}: parameters without gradient {quiet}", len(quiet), 0)
    counts = [(len(s) - 1) // models.CURVE_T for s in models.slots()]
    expect("slots wrap together", len(set(counts)) - 1, 0)


def test_curves():
    read = lambda n: np.array([float.fromhex(l) for l in (HERE / "curves" / f"{n}.txt").read_text().splitlines() if l[0] != "#"])
    for kind in "ab":
        single, double = read(f"zero_{kind}"), read(f"zero_{kind}_f64")
        expect(f"curve zero_{kind}: float32 against float64, worst step", np.max(np.abs(single / double - 1)), 1e-2)
        print(f"     first {double[0]:.3f}, mean of the last 50 {double[-50:].mean():.3f} nats")


# validation/bench/c/rows.c against jax.grad of the scan


def test_textbook():
    T = 150  # two whole segments and a rest
    for d in (12, 7):  # a width that four divides, and another
        rand = lambda n, shape, lo=-1.0, hi=1.0: streams.uniform(f"textbook.{d}.{n}", 1, shape, lo, hi)
        unit = lambda a: a / np.linalg.norm(a, axis=-1, keepdims=True)
        k, q, v = unit(rand("k", (T, d))), unit(rand("q", (T, d))), rand("v", (T, d))
        rho, theta, M0 = rand("rho", (T,), 0.8, 1), rand("theta", (T,), 0, 0.5), rand("M0", (d, d))
        dy, dMT = rand("dy", (T, d)), rand("dMT", (d, d))

        def loss(k, q, v, rho, theta, M0):
            state, y = jax.lax.scan(rules.delta_step, {"M": M0}, dict(k=k, q=q, v=v, rho=rho, theta=theta))
            return jnp.sum(dy * y) + jnp.sum(dMT * state["M"]), (y, state["M"])

        inputs = (k, q, v, rho, theta, M0)
        (_, (y, MT)), grads = jax.value_and_grad(loss, tuple(range(6)), has_aux=True)(*inputs)
        for real, dtype, bound in [("double", np.float64, 1e-13), ("float", np.float32, 5e-6)]:
            with tempfile.TemporaryDirectory() as tmp:
                lib = f"{tmp}/rows.so"
                subprocess.run(["gcc", "-O2", "-shared", "-fPIC", f"-DREAL={real}", "-o", lib,
                                str(HERE.parent / "bench/c/rows.c"), "-lm"], check=True)
                c = ctypes.CDLL(lib)
            for variant in ("rows", "rows4"):
                arrays = [np.ascontiguousarray(a, dtype) for a in inputs]
                blank = lambda *shape: np.full(shape, np.nan, dtype)
                cy, e, points, cMT, work = blank(T, d), blank(T, d), blank((T + 63) // 64, d, d), blank(d, d), blank(66, d)
                out = [blank(*a.shape) for a in (k, q, v, rho, theta, M0)]
                call = lambda name, arrays: getattr(c, f"{variant}_{name}")(
                    T, d, 0, d, *(ctypes.c_void_p(a.ctypes.data) for a in arrays))
                call("forward", arrays + [cy, e, points, cMT, work])
                ends = [np.ascontiguousarray(a, dtype) for a in (dy, dMT)]
                call("backward", arrays[:2] + arrays[3:5] + [e, points] + ends + out + [work])
                worst = max(relative(a, b) for a, b in zip([cy, cMT] + out, [y, MT] + list(grads)))
                expect(f"rows.c {variant} {real} d={d}: y, M_T and six gradients", worst, bound)


for test in (test_rules, test_attention, test_ops, test_models, test_curves, test_textbook):
    test()
plain_tests.run(expect, load)
print(f"{failures} failed")
sys.exit(1 if failures else 0)
