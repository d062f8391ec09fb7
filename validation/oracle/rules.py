"""Delta, Titans LMM and Hebbian, token by token, and their gradients by
jax.grad through the inner loop. Everything here treats one sequence; vmap adds the
sequence axis. math.md sections 0 to 1.3 and 15 settle the readings."""

import jax
import jax.numpy as jnp
import numpy as np

import streams
from vector_file import File

K = 4  # taps of the short convolution


def silu(x):
    return x * jax.nn.sigmoid(x)


def unit(x):
    """x / max(||x||, 1e-8); the gradient of the branch taken, also at x = 0."""
    square = jnp.sum(x * x, axis=-1, keepdims=True)
    small = square <= 1e-16
    norm = jnp.sqrt(jnp.where(small, 1.0, square))
    return jnp.where(small, x / 1e-8, x / norm)


def short_conv(u, tail, pos, c, b):
    """silu(b + sum_{a < K} c[a] * u[t - a]); u [T, n], tail [K-1, n], c [K, n].

    Row j of the tail is the raw input of K-1-j positions before the call. It is
    absent, that is, contributes nothing, if the context is younger than that.
    Returns the output and the tail after the call (absent rows are zero).
    """
    taps, T = c.shape[0], u.shape[0]
    age = taps - 1 - jnp.arange(taps - 1)
    tail = jnp.where((age <= pos)[:, None], tail, 0)
    full = jnp.concatenate([tail, u])  # full[taps - 1 + t] is u[t]
    z = b
    for a in range(taps):
        z = z + c[a] * full[taps - 1 - a : taps - 1 - a + T]
    return silu(z), full[T:]


def front(p, x, ctx, conv, norm, theta_max):
    """The streams k, q, v and the gates of every token; also the new tails."""
    k = x @ p["W_K"].T
    q = x @ p["W_Q"].T
    v = x @ p["W_V"].T
    tails = {}
    if conv:
        k, tails["tail_k"] = short_conv(k, ctx["tail_k"], ctx["pos"], p["c_K"], p["b_K"])
        q, tails["tail_q"] = short_conv(q, ctx["tail_q"], ctx["pos"], p["c_Q"], p["b_Q"])
    if norm:
        k, q = unit(k), unit(q)
    kv = jnp.concatenate([k, v], axis=-1)  # the gates see the normalised k and the raw v
    s = {"k": k, "q": q, "v": v, "rho": jax.nn.sigmoid(kv @ p["w_rho"] + p["b_rho"])}
    if "w_theta" in p:
        s["theta"] = jnp.clip(jax.nn.softplus(kv @ p["w_theta"] + p["b_theta"]), 0, theta_max)
    if "w_eta" in p:
        s["eta"] = jax.nn.sigmoid(kv @ p["w_eta"] + p["b_eta"])
        s["theta"] = jnp.minimum(s["theta"], 1 - s["eta"])  # no gradient is written more than once
    return s, tails


def delta_step(state, s):
    M = state["M"]
    e = M @ s["k"] - s["v"]
    M = s["rho"] * M - s["theta"] * jnp.outer(e, s["k"])
    return {"M": M}, M @ s["q"]


def titans_step(state, s):
    M, S = state["M"], state["S"]
    e = M @ s["k"] - s["v"]
    S = s["eta"] * S - s["theta"] * jnp.outer(e, s["k"])
    M = s["rho"] * M + S
    return {"M": M, "S": S}, M @ s["q"]


def hebbian_step(state, s):
    M = s["rho"] * state["M"] + jnp.outer(s["v"], s["k"])
    return {"M": M}, M @ s["q"]


class Rule:
    def __init__(self, name, step, conv, norm, gates, state):
        self.name, self.step, self.conv, self.norm = name, step, conv, norm
        self.gates, self.state = gates, state

    def apply(self, p, x, ctx, theta_max=jnp.inf):
        """y [T, d_v], the context after the call and the streams of the front end.

        ctx: M (and S) and, with a convolution, tail_k and tail_q; pos, the number
        of tokens of this context before the call.
        """
        s, tails = front(p, x, ctx, self.conv, self.norm, theta_max)
        state, y = jax.lax.scan(self.step, {n: ctx[n] for n in self.state}, s)
        return y, {**state, **tails, "pos": ctx["pos"] + x.shape[0]}, s

    def frozen(self, p, x, ctx):
        """y_t = M q_t with the q of apply and M constant."""
        q = x @ p["W_Q"].T
        if self.conv:
            q, _ = short_conv(q, ctx["tail_q"], ctx["pos"], p["c_Q"], p["b_Q"])
        if self.norm:
            q = unit(q)
        return q @ jax.lax.stop_gradient(ctx["M"]).T

    def param_shapes(self, d, d_k, d_v):
        shapes = {"W_K": (d_k, d), "W_Q": (d_k, d), "W_V": (d_v, d)}
        if self.conv:
            shapes |= {"c_K": (K, d_k), "c_Q": (K, d_k), "b_K": (d_k,), "b_Q": (d_k,)}
        for g in self.gates:
            shapes |= {"w_" + g: (d_k + d_v,), "b_" + g: ()}
        return shapes


DELTA = Rule("delta_rule", delta_step, True, True, ["rho", "theta"], ["M"])
TITANS = Rule("titans_lmm", titans_step, True, True, ["rho", "theta", "eta"], ["M", "S"])
HEBBIAN = Rule("hebbian", hebbian_step, False, False, ["rho"], ["M"])

# The rules' cases: T, pos per sequence, theta_max.
CASES = [
    ("case0.", 7, [100, 100], jnp.inf, "T=7; a context old enough for whole tails"),
    ("case1.", 1, [100, 100], jnp.inf, "T=1"),
    ("case2.", 7, [100, 100], 0.45, "theta_max clamps some tokens and not others"),
    ("case3.", 7, [0, 1], jnp.inf, "young contexts: no tail row is present in sequence 0, the last one in sequence 1"),
]
GATE_BIAS = {"b_rho": 1.0, "b_theta": -0.5, "b_eta": 0.5}


def draw(rule, prefix, T, pos, d=5, d_k=4, d_v=3, L=2):
    """Parameters and context with every entry drawn from a stream of its name."""
    name = f"{rule.name}.{prefix}"
    rand = lambda n, shape, r=1.0: streams.uniform(name + n, 1, shape, -r, r)
    p = {n: rand(n, shape) for n, shape in rule.param_shapes(d, d_k, d_v).items()}
    for n, b in GATE_BIAS.items():
        if n in p:
            p[n] = np.float64(b)
    ctx = {n: rand(n + "0", (L, d_v, d_k)) for n in rule.state}
    if rule.conv:
        ctx |= {n: rand(n, (L, K - 1, d_k)) for n in ("tail_k", "tail_q")}
    ctx["pos"] = np.array(pos, np.int64)
    return p, rand("x", (L, T, d)), ctx, rand


def initial(ctx):
    """The context under the names that the files use: M0, S0, tail_k, …"""
    return {n + "0" if n in ("M", "S") else n: v for n, v in ctx.items()}


def vectors(rule):
    f = File(
        f"{rule.name}: d=5, d_k=4, d_v=3, 2 sequences, float64. Written by validation/oracle/make.py.",
        "loss = sum(w * y) + sum(wM * M_T)" + (" + sum(wS * S_T)" if "S" in rule.state else "")
        + "; grad.X is its gradient with respect to X.",
        "Parameters are shared by the sequences, so their gradients are summed over them.",
        "frozen.: the read with M constant, loss = sum(w * y).",
    )
    for prefix, T, pos, theta_max, about in CASES:
        if theta_max != jnp.inf and "theta" not in rule.gates:
            continue
        if not rule.conv and prefix == "case3.":
            continue
        p, x, ctx, rand = draw(rule, prefix, T, pos)
        pos = ctx.pop("pos")
        weights = {"w": rand("w", x.shape[:2] + (3,))}
        weights |= {"w" + n: rand("w" + n, ctx[n].shape) for n in rule.state}

        @jax.jit
        def run(p, x, ctx):
            one = lambda x, ctx, pos: rule.apply(p, x, {**ctx, "pos": pos}, theta_max)
            y, after, s = jax.vmap(one)(x, ctx, pos)
            loss = jnp.sum(weights["w"] * y)
            for n in rule.state:
                loss += jnp.sum(weights["w" + n] * after[n])
            return loss, (y, after, s)

        (loss, (y, after, s)), (gp, gx, gctx) = jax.value_and_grad(run, (0, 1, 2), has_aux=True)(p, x, ctx)
        if theta_max != jnp.inf:
            theta = np.asarray(s["theta"])
            assert 0 < np.sum(theta == theta_max) < theta.size, theta
            free = jax.vmap(lambda x, ctx, pos: rule.apply(p, x, {**ctx, "pos": pos})[2]["theta"])(x, ctx, pos)
            assert np.min(np.abs(free - theta_max)) > 1e-2, free  # clear of the kink
        f.add(prefix + "x", x, about)
        f.add(prefix + "pos", pos)
        if "theta" in rule.gates:
            f.add(prefix + "theta_max", np.float64(theta_max))
        f.add_all(prefix, p)
        f.add_all(prefix, initial(ctx))
        f.add_all(prefix, weights)
        f.add_all(prefix + "out.", s)
        f.add(prefix + "out.y", y)
        f.add_all(prefix + "out.", {n + "_T": v for n, v in after.items()})
        f.add(prefix + "loss", loss)
        f.add(prefix + "grad.x", gx)
        f.add_all(prefix + "grad.", gp)
        f.add_all(prefix + "grad.", initial(gctx))

    p, x, ctx, rand = draw(rule, "frozen.", 7, [100, 100])
    w = rand("w", (2, 7, 3))
    pos = ctx.pop("pos")
    used = {n: p[n] for n in ("W_Q", "c_Q", "b_Q") if n in p}
    ctx = {n: ctx[n] for n in ("M", "tail_q") if n in ctx}

    @jax.jit
    def read(p, x, ctx):
        y = jax.vmap(lambda x, ctx, pos: rule.frozen(p, x, {**ctx, "pos": pos}))(x, ctx, pos)
        return jnp.sum(w * y), y

    (loss, y), (gp, gx) = jax.value_and_grad(read, (0, 1), has_aux=True)(used, x, ctx)
    f.add("frozen.x", x, "the frozen read")
    f.add("frozen.pos", pos)
    f.add_all("frozen.", used)
    f.add_all("frozen.", initial(ctx))
    f.add("frozen.w", w)
    f.add("frozen.out.y", y)
    f.add("frozen.loss", loss)
    f.add("frozen.grad.x", gx)
    f.add_all("frozen.grad.", gp)
    return f


def inner_vectors():
    f = File(
        "Witnesses of the inner gradients, d_k=4, d_v=3, float64:",
        "l2: grad.M of 0.5 ||M k - v||^2; dot: grad.M of -(M k) . v.",
    )
    for name, loss in [
        ("l2.", lambda M, k, v: 0.5 * jnp.sum((M @ k - v) ** 2)),
        ("dot.", lambda M, k, v: -(M @ k) @ v),
    ]:
        M, k, v = (streams.uniform(f"inner.{name}{n}", 1, shape, -1, 1)
                   for n, shape in [("M", (3, 4)), ("k", (4,)), ("v", (3,))])
        f.add_all(name, {"M": M, "k": k, "v": v, "loss": loss(M, k, v), "grad.M": jax.grad(loss)(M, k, v)})
    return f
