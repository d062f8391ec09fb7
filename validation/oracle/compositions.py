"""Compositions and schedules with parts: the memory is the Hebbian rule, every other part a network of two layers beside the
identity. Names are those of the program with its parts inlined."""

import jax
import jax.numpy as jnp

from emit import drawer, emit
from rules import HEBBIAN, silu
from vector_file import File

L, D, D_H = 2, 3, 12


def sub(p, name):
    return {n.removeprefix(name + "."): a for n, a in p.items() if n.startswith(name + ".")}


def net(p, x):
    return x + silu(x @ p["W1"].T) @ p["W2"].T


def memory(p, x, M):
    y, after, _ = HEBBIAN.apply(p, x, {"M": M, "pos": 0})
    return y, after["M"]


def layer_norm(x):
    e = x - jnp.mean(x, axis=-1, keepdims=True)
    return e / jnp.sqrt(jnp.mean(e * e, axis=-1, keepdims=True) + 1e-5)


def rms_norm(x):
    return x / jnp.sqrt(jnp.mean(x * x, axis=-1, keepdims=True) + 1e-6)


def scaled(p, name, x):
    return p["gamma" + name] * layer_norm(x) + p["beta" + name]


def mag(p, x, s):
    m, M = memory(sub(p, "memory"), x, s["memory.M"])
    return (net(sub(p, "attention"), x) * jax.nn.sigmoid(m)) @ p["W_O"].T, {"memory.M": M}


def mag_normed(p, x, s):
    m, M = memory(sub(p, "memory"), x, s["memory.M"])
    a = net(sub(p, "attention"), x)
    return (p["gamma_a"] * rms_norm(a) * jax.nn.sigmoid(p["gamma_m"] * rms_norm(m))) @ p["W_O"].T, {"memory.M": M}


def mag_residual(p, x, s):
    r = x + net(sub(p, "attention"), scaled(p, "_a", x))
    m, M = memory(sub(p, "memory"), scaled(p, "_m", r), s["memory.M"])
    return r + m, {"memory.M": M}


def mal(form, p, x, s):
    m, M = memory(sub(p, "memory"), x, s["memory.M"])
    y = net(sub(p, "attention"), m + x if form == "beside" else m)
    return {"beside": lambda: y @ p["W_O"].T, "bottleneck": lambda: x + y @ p["W_O"].T, "printed": lambda: y}[form](), {"memory.M": M}


def chain(p, x, s):
    for l in range(2):
        x = net(sub(p, f"net.{l}"), x)
    return x, {}


def aggregate(p, x, s):
    return sum(a * net(sub(p, f"net.{l}"), x) for l, a in enumerate(jax.nn.softmax(p["alpha"]))), {}


def hope(p, x, s):
    o, M = memory(sub(p, "memory"), scaled(p, "", x), s["memory.M"])
    return scaled(p, "_o", chain(p, x + o, s)[0]), {"memory.M": M}


def hope_attention(p, x, s):
    u = x + net(sub(p, "attention"), scaled(p, "", x)) @ p["W_O"].T
    return scaled(p, "_o", chain(p, u, s)[0]), {}


def side_by_side(weights, p, x, s):
    answers = [memory(sub(p, f"memory.{l}"), x, s[f"memory.{l}.M"]) for l in range(3)]
    return sum(a * y for a, (y, _) in zip(weights(p), answers)), {f"memory.{l}.M": M for l, (_, M) in enumerate(answers)}


def in_sequence(p, x, s):
    after = {}
    for l in range(3):
        y, after[f"memory.{l}.M"] = memory(sub(p, f"memory.{l}"), x, s[f"memory.{l}.M"])
        x = x + y
    return x, after


def of(name, shapes):
    return {f"{name}.{n}": s for n, s in shapes.items()}


RULE, NET = HEBBIAN.param_shapes(D, D, D), {"W1": (D_H, D), "W2": (D, D_H)}
MEMORY, STATE = of("memory", RULE), {"memory.M": (D, D)}
ATTENTION, NETS, SQUARE = of("attention", NET), of("net.0", NET) | of("net.1", NET), {"W_O": (D, D)}
LEVELS = {n: s for l in range(3) for n, s in of(f"memory.{l}", RULE).items()}
STATES = {f"memory.{l}.M": (D, D) for l in range(3)}


def gains(*names):
    return {kind + n: (D,) for kind in ("gamma", "beta") for n in names}


# name: parameters, states, function
CASES = {
    "mag": (MEMORY | ATTENTION | SQUARE, STATE, mag),
    "mag_normed": (MEMORY | ATTENTION | SQUARE | {"gamma_a": (D,), "gamma_m": (D,)}, STATE, mag_normed),
    "mag_residual": (MEMORY | ATTENTION | gains("_a", "_m"), STATE, mag_residual),
    "mal": (MEMORY | ATTENTION | SQUARE, STATE, lambda *a: mal("beside", *a)),
    "mal_bottleneck": (MEMORY | ATTENTION | SQUARE, STATE, lambda *a: mal("bottleneck", *a)),
    "mal_printed": (MEMORY | ATTENTION, STATE, lambda *a: mal("printed", *a)),
    "chain": (NETS, {}, chain),
    "aggregate": (NETS | {"alpha": (2,)}, {}, aggregate),
    "hope": (MEMORY | NETS | gains("", "_o"), STATE, hope),
    "hope_attention": (ATTENTION | NETS | SQUARE | gains("", "_o"), {}, hope_attention),
    "cms": (LEVELS, STATES, lambda *a: side_by_side(lambda p: [3**-0.5] * 3, *a)),
    "cms_independent": (LEVELS | {"alpha": (3,)}, STATES, lambda *a: side_by_side(lambda p: jax.nn.softmax(p["alpha"]), *a)),
    "cms_sequential": (LEVELS, STATES, in_sequence),
}


def vectors():
    f = File(f"Compositions with a Hebbian memory and networks as parts: d={D}, {L} sequences, float64. Written by validation/oracle/make.py.",
             "loss = sum(wout * out) + sum(wX * X) over the states X after the call; grad.X is its gradient.")
    rand = drawer("compositions")
    for name, (params, states, function) in CASES.items():
        for T, tail in [(5, ""), (1, "1")]:
            prefix = f"{name}{tail}."
            values = {"X": 0.3 * rand(prefix + "X", (L, T, D))} | {n: rand(prefix + n, s) for n, s in params.items()}
            values |= {n: rand(prefix + n, (L, *s)) for n, s in states.items()}

            def each(v):
                def one(x, s):
                    out, after = function(v, x, s)
                    return {"out": out} | {n + "_T": M for n, M in after.items()}

                return jax.vmap(one)(v["X"], {n: v[n] for n in states})

            emit(f, rand, prefix, f"T={T}", each, values)
    return f
