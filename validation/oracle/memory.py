"""A memory rule in general: projections, gates, one state per sequence, a write and
a read, token by token, or in chunks whose inner gradients are all taken at the
state with which the chunk began. math.md sections 0.2, 0.4, 0.5 and 6.1.

The particular rules are in memories.py; this file turns one into the cases of
a vector file.
"""

import dataclasses
from typing import Callable

import jax
import jax.numpy as jnp
import numpy as np

from emit import drawer, emit
from rules import K, short_conv, unit
from vector_file import File

sigmoid, softplus = jax.nn.sigmoid, jax.nn.softplus
SQUASH = {"rho": sigmoid, "theta": softplus, "eta": sigmoid, "beta": sigmoid, "delta": softplus}
BIAS = {"rho": 1.0, "theta": -0.5, "eta": 0.5, "beta": 0.0, "delta": -0.5}


@dataclasses.dataclass
class Memory:
    """A rule. In the functions, state, s and p are dicts: the state, the streams
    of one token (x, k, q, v and the gates) and the outer parameters; h holds the
    constants of the case."""

    name: str
    gates: list
    state: dict  # name -> shape, or h -> shape
    update: Callable  # (state, g, s, p, h) -> state
    read: Callable  # (state, q, h) -> y
    grad: Callable = lambda state, s, p, h: {}  # what a frozen boundary freezes
    params: dict = dataclasses.field(default_factory=dict)  # further outer parameters
    widths: tuple = (4, 4, 3)  # d_k, d_q, d_v
    place: Callable = lambda state, h: state  # raw draws -> the domain of the state
    start: Callable = None  # learned starts -> the first state
    start_params: dict = dataclasses.field(default_factory=dict)
    spread: dict = dataclasses.field(default_factory=dict)  # gate bias of these cases
    windows: tuple = ()  # parts of the state that hold past tokens, oldest first

    def step(self, state, s, p, h):
        return self.update(state, self.grad(state, s, p, h), s, p, h)


def shape_of(shape, h):
    return shape(h) if callable(shape) else shape


def front(m, p, x, tails, pos, conv, norm):
    """k, q, v and the gates of every token, and the tails after the call. The
    gates see the finished key and the raw value."""
    k, q, v = x @ p["W_K"].T, x @ p["W_Q"].T, x @ p["W_V"].T
    after = {}
    if conv:
        k, after["tail_k"] = short_conv(k, tails["tail_k"], pos, p["c_K"], p["b_K"])
        q, after["tail_q"] = short_conv(q, tails["tail_q"], pos, p["c_Q"], p["b_Q"])
    if norm:
        k, q = unit(k), unit(q)
    kv = jnp.concatenate([k, v], axis=-1)
    s = {g: SQUASH[g](kv @ p["w_" + g] + p["b_" + g]) for g in m.gates}
    return s | {"x": x, "k": k, "q": q, "v": v}, after


def young(m, state, pos):
    """Rows of a window that lie before the context's start are zero."""
    out = dict(state)
    for n in m.windows:
        rows = state[n].shape[0]
        out[n] = jnp.where(((rows - jnp.arange(rows)) <= pos)[:, None], state[n], 0)
    return out


def margins(m, before, s, p, h):
    """How close a token comes to a kink, for rules that have one."""
    f = h.get("_margin")
    return {"_margin": f(before, s, p, h)} if f else {}


def sequence(m, p, state, s, h, chunk=None, reads_first=False):
    """y [T, d_v], the state after the last token, and margins. chunk: take the
    inner gradients at the state before every chunk-th token."""

    def step(carry, token):
        state, boundary = carry
        s, first = token
        boundary = jax.tree.map(lambda a, b: jnp.where(first, a, b), state, boundary)
        at = state if chunk is None else boundary
        near = margins(m, at, s, p, h)
        new = m.update(state, m.grad(at, s, p, h), s, p, h)
        y = m.read(state if reads_first else new, s["q"], h)
        return (new, boundary), (y, near)

    T = s["x"].shape[0]
    first = jnp.arange(T) % (chunk or 1) == 0
    (state, _), (y, near) = jax.lax.scan(step, (state, state), (s, first))
    return y, state, near


def runner(m, h, pos, conv, norm, chunk=None):
    """The function of all values of a case that emit differentiates."""
    tail_names = ("tail_k", "tail_q") if conv else ()

    def run(values):
        own = {n: values[n] for n in ("x", *tail_names)} | {n: values["state." + n] for n in m.state}
        p = {n: v for n, v in values.items() if n not in own and not n.startswith("state.")}

        def one(own, pos):
            s, tails = front(m, p, own["x"], own, pos, conv, norm)
            if "phi" in h:
                s |= {n: jax.vmap(lambda u: h["phi"](u, p))(s[n]) for n in ("k", "q")}
            state = young(m, {n: own[n] for n in m.state}, pos)
            y, state, near = sequence(m, p, state, s, h, chunk)
            ends = {n + "_T": v for n, v in {**state, **tails}.items()}
            return {"y": y, **ends}, near, {n: s[n] for n in m.gates}

        out, near, gates = jax.vmap(one)(own, pos)
        return out | near

    return run


def parameters(m, rand, prefix, d, conv):
    d_k, d_q, d_v = m.widths
    shapes = {"W_K": (d_k, d), "W_Q": (d_q, d), "W_V": (d_v, d)} | m.params
    if conv:
        shapes |= {"c_K": (K, d_k), "c_Q": (K, d_q), "b_K": (d_k,), "b_Q": (d_q,)}
    shapes |= {"w_" + g: (d_k + d_v,) for g in m.gates}
    p = {n: rand(prefix + n, s) for n, s in shapes.items()}
    return p | {"b_" + g: np.float64(m.spread.get(g, BIAS[g])) for g in m.gates}


def case(f, rand, m, prefix, about, T, h={}, conv=False, norm=False, pos=(100, 100), chunk=None, d=5, tie={}):
    """One call of T tokens from a given state, as many sequences as pos has entries.
    tie: values that are no inputs of their own but copies of another."""
    pos = np.array(pos, np.int64)
    values = {"x": rand(prefix + "x", (len(pos), T, d))} | parameters(m, rand, prefix, d, conv)
    values |= {n: rand(prefix + n, s) for n, s in h.get("_params", {}).items()}
    raw = {n: rand(prefix + "state." + n, (len(pos), *shape_of(s, h))) for n, s in m.state.items()}
    placed = jax.vmap(lambda state: m.place(state, h))(raw)
    values |= {"state." + n: placed[n] for n in m.state}
    if conv:
        values |= {n: rand(prefix + n, (len(pos), K - 1, m.widths[i])) for i, n in enumerate(("tail_k", "tail_q"))}
    given = {"pos": pos} | {n: v for n, v in h.items() if isinstance(v, (int, float))}
    if chunk:
        given["chunk"] = chunk
    given |= h["_given"](values) if "_given" in h else {}
    values = {n: v for n, v in values.items() if n not in tie}
    run = runner(m, h, pos, conv, norm, chunk)
    return emit(f, rand, prefix, about, lambda v: run(v | {n: v[o] for n, o in tie.items()}), values, given)


def frozen_case(f, rand, m, h={}, T=7, d=5, prefix="frozen."):
    """The read with the state constant: only x and what makes the query learn."""
    pos = np.array([100, 1], np.int64)
    d_q = m.widths[1]
    values = {"x": rand(prefix + "x", (2, T, d)), "W_Q": rand(prefix + "W_Q", (d_q, d)),
              "c_Q": rand(prefix + "c_Q", (K, d_q)), "b_Q": rand(prefix + "b_Q", (d_q,))}
    values |= {n: rand(prefix + n, s) for n, s in h.get("_params", {}).items()}
    tail = rand(prefix + "tail_q", (2, K - 1, d_q))
    raw = {n: rand(prefix + "state." + n, (2, *shape_of(s, h))) for n, s in m.state.items()}
    state = jax.vmap(lambda state: m.place(state, h))(raw)

    def run(values):
        def one(x, tail, pos, state):
            q, _ = short_conv(x @ values["W_Q"].T, tail, pos, values["c_Q"], values["b_Q"])
            q = unit(q)
            if "phi" in h:
                q = jax.vmap(lambda u: h["phi"](u, values))(q)
            return jax.vmap(lambda q: m.read(state, q, h))(q)

        return {"y": jax.vmap(one)(values["x"], tail, pos, state)}

    given = {"tail_q": tail, "pos": pos} | {"state." + n: np.asarray(v) for n, v in state.items()}
    given |= {n: v for n, v in h.items() if isinstance(v, (int, float))}
    emit(f, rand, prefix, "the frozen read, with convolution and unit queries", run, values, given)


def start_case(f, rand, m, h={}, prefix="start.", about="a fresh context"):
    """The first state of a fresh context, from what is learned."""
    values = {n: rand(prefix + n, shape_of(s, h)) for n, s in m.start_params.items()}
    given = {n: v for n, v in h.items() if isinstance(v, (int, float))}
    emit(f, rand, prefix, about, lambda values: m.start(values, h), values, given)


def vectors(m, plain, variants=()):
    """The file of a rule: plain are the constants of its ordinary cases, variants
    (prefix, about, constants) further calls of seven tokens."""
    d_k, d_q, d_v = m.widths
    f = File(
        f"{m.name}: d=5, d_k={d_k}, d_q={d_q}, d_v={d_v}, 2 sequences, float64. Written by validation/oracle/make.py.",
        "loss = sum(w * y) + sum over results X of sum(wX * X); grad.X is its gradient.",
        "state.X: the state before the call, out.X_T: after it. See README.md.",
    )
    rand = drawer(m.name)
    case(f, rand, m, "case0.", "T=7; neither convolution nor unit keys", 7, plain)
    case(f, rand, m, "case1.", "T=1", 1, plain)
    case(f, rand, m, "front.", "T=7 with convolution and unit keys and queries; sequence 1 is young", 7, plain,
         conv=True, norm=True, pos=(100, 1))
    for prefix, about, h in variants:
        case(f, rand, m, prefix, about, 7, h)
    frozen_case(f, rand, m, plain)
    if m.start:
        start_case(f, rand, m, plain)
    return f
