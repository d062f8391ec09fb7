"""Longer calls: 67 tokens for the exact chunk forms, which must give what the
loop over tokens gives; the same at the level of the streams, without a front
end; the linear scan; and chunks whose inner gradients are frozen at their
first state, with the gradient through everything. math.md section 6."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np

import memories
import rules
from emit import drawer, emit
from memory import Memory, case, front, parameters
from vector_file import File

T_LONG = 67  # four chunks of 16 and a ragged one, and one of 64 and three tokens


def written(name, step, state, gates):
    """A rule of rules.py in the form of memory.py."""
    return Memory(name, gates, {n: (3, 4) for n in state},
                  lambda state, g, s, p, h: step(state, s)[0], lambda state, q, h: state["M"] @ q)


def delta_grad(state, s, p, h):
    return {"M": jnp.outer(state["M"] @ s["k"] - s["v"], s["k"])}


DELTA = Memory(
    "delta", ["rho", "theta"], {"M": (3, 4)},
    lambda state, g, s, p, h: {"M": s["rho"] * state["M"] - s["theta"] * g["M"]},
    lambda state, q, h: state["M"] @ q, delta_grad)


def titans_update(state, g, s, p, h):
    S = s["eta"] * state["S"] - s["theta"] * g["M"]
    return {"S": S, "M": s["rho"] * state["M"] + S}


TITANS = Memory("titans", ["rho", "theta", "eta"], {"M": (3, 4), "S": (3, 4)}, titans_update,
                lambda state, q, h: state["M"] @ q, delta_grad)
HEBBIAN = written("hebbian", rules.hebbian_step, ["M"], ["rho"])


def stream_case(f, rand, prefix, about, step, names, T, d_k=4, d_v=3):
    """One sequence of a rule on given streams; rho and eta in (0.5, 1), unit keys."""
    shapes = {"k": (T, d_k), "q": (T, d_k), "v": (T, d_v)}
    values = {n: rand(prefix + n, s) for n, s in shapes.items()}
    values["k"] = np.asarray(rules.unit(values["k"]))
    bounds = {"rho": (0.5, 1), "theta": (0, 0.9), "eta": (0.5, 1)}
    gates = [n for n in bounds if n in names]
    values |= {n: rand(prefix + n, (T,), *bounds[n]) for n in gates}
    values |= {n: rand(prefix + n, (d_v, d_k)) for n in names if n in ("M0", "S0")}

    def run(v):
        state = {n[0]: v[n] for n in ("M0", "S0") if n in v}
        state, y = jax.lax.scan(step, state, {n: v[n] for n in (*shapes, *gates)})
        return {"y": y} | {n + "_T": s for n, s in state.items()}

    emit(f, rand, prefix, about, run, values)


def long_vectors():
    f = File("Calls of 67 tokens, one after the other, float64. Written by validation/oracle/make.py.",
             "An exact chunk form gives these numbers for every length of a chunk.",
             "delta., titans., hebbian.: whole rules (d=5, d_k=4, d_v=3, one sequence, unit keys).",
             "streams.X.: the loop alone on given streams. scan.: s_t = a_t s_{t-1} + b_t.")
    rand = drawer("long")
    for m in (DELTA, TITANS, HEBBIAN):
        case(f, rand, m, m.name + ".", f"{m.name}, T=67", T_LONG, norm=True, pos=(0,))
    stream_case(f, rand, "streams.delta.", "delta on given streams", rules.delta_step, ("rho", "theta", "M0"), T_LONG)
    stream_case(f, rand, "streams.titans.", "Titans on given streams", rules.titans_step,
                ("rho", "theta", "eta", "M0", "S0"), T_LONG)
    stream_case(f, rand, "streams.one.", "Titans, T=1", rules.titans_step, ("rho", "theta", "eta", "M0", "S0"), 1)
    T = 13
    values = {"a": rand("scan.a", (T,)), "b": rand("scan.b", (T, 2, 3)), "s0": rand("scan.s0", (2, 3))}

    def scan(v):
        A, B = jax.lax.associative_scan(
            lambda one, two: (one[0] * two[0], two[0] * one[1] + two[1]), (v["a"][:, None, None], v["b"]))
        return {"y": A * v["s0"] + B}

    emit(f, rand, "scan.", "factors a of either sign", scan, values)
    return f


# Slots with all that reads the state frozen, the tangent too; and slots that add
# these directions up in the plane and are put back onto the sphere when read.


def tangent(state, s, p, h):
    g = jax.grad(memories.lattice_loss)(state["S"], s, h["form"])
    return {"N": g - jnp.sum(state["S"] * g, axis=-1, keepdims=True) * state["S"]}


FLAT = dataclasses.replace(
    memories.LATTICE, name="lattice_flat", grad=tangent,
    update=lambda state, g, s, p, h: {"S": rules.unit(state["S"] - s["beta"] * g["N"])})


def linear_case(f, rand, prefix, about, T, chunk, d=5):
    m = memories.LATTICE
    values = {"x": rand(prefix + "x", (2, T, d))} | parameters(m, rand, prefix, d, False)
    values["state.S"] = np.asarray(rules.unit(rand(prefix + "state.S", (2, 4, 3))))

    def one(v, x, S):
        s, _ = front(m, v, x, {}, 0, False, False)

        def step(carry, token):
            start, Z, S = carry
            s, first = token
            start, Z = (jnp.where(first, S, A) for A in (start, Z))
            Z = Z - s["beta"] * tangent({"S": start}, s, None, {"form": "decode"})["N"]
            S = rules.unit(Z)
            return (start, Z, S), m.read({"S": S}, s["q"], None)

        at = jnp.arange(T)
        first = (at % chunk == 0) | (at >= T // chunk * chunk)  # what fills no chunk runs as the rule
        (_, _, S), y = jax.lax.scan(step, (S, S, S), (s, first))
        return {"y": y, "S_T": S}

    run = lambda v: jax.vmap(lambda x, S: one(v, x, S))(v["x"], v["state.S"])
    emit(f, rand, prefix, about, run, values, {"pos": np.array([100, 100]), "chunk": chunk})


def chunk_vectors():
    f = File("Chunks with a frozen boundary: T=18, d=5, d_k=4, d_v=3, 2 sequences, float64. Written by validation/oracle/make.py.",
             "Every inner gradient is taken at the state with which the chunk began; decay, momentum and",
             "reads run on. The gradient of loss goes through all of it, boundaries included.",
             "chunk 1 is the rule itself; 18 = 4*4 + 2 = 16 + 2.")
    rand = drawer("chunks")
    mild = {"theta": -2.0}
    for m, h, lengths in [
        (DELTA, {}, (1, 4, 16)), (TITANS, {}, (1, 4, 16)),
        (memories.MONETA, memories.MONETA_PLAIN, (4,)), (memories.MEMORA, {"c": 1.0}, (4,)),
        (memories.YAAD, memories.YAAD_PLAIN, (4,)), (memories.THIN_TITANS, {}, (4,)),
        (memories.RATED, {"form": "decode"}, (4,)), (FLAT, {"form": "decode"}, (4,)),
    ]:
        m.spread = m.spread or mild
        for c in lengths:
            case(f, rand, m, f"{m.name}.c{c}.", f"{m.name}, chunks of {c}", 18, h, chunk=c)
    linear_case(f, rand, "lattice_linear.c4.", "slots that move in a straight line for chunks of 4; the last two tokens are the rule's", 18, 4)
    return f


VECTORS = {"long": long_vectors, "chunks": chunk_vectors}
