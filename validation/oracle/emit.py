"""One road from a function to a vector file: draw the weights of the loss, run,
differentiate by everything that is real, write down.

A case is a function of named tensors that returns named results. The loss is
sum(w * y) + sum over the other results X of sum(wX * X); results whose name
begins with an underscore are no results but distances to a kink, and a case
that comes too close to one is refused here, before it is written.
"""

import jax
import jax.numpy as jnp
import numpy as np

import streams

LARGE = 1e4  # beyond it a case runs away, and holds nothing but its largest entries
CLEAR = 1e-3  # a case keeps this far from every kink
QUICK = {"xla_backend_optimization_level": 0, "xla_llvm_disable_expensive_passes": True}


def drawer(name):
    """rand(tensor, shape, lo=-1, hi=1) from the stream that the tensor's name in this file opens."""
    return lambda n, shape, lo=-1.0, hi=1.0: streams.uniform(f"{name}.{n}", 1, shape, lo, hi)


def weight_name(result):
    return "w" if result == "y" else "w" + result


def differentiate(run, values, weights):
    """loss, results and gradients of run at values. The optimizer of the compiler
    is off: these programs run once."""

    def scalar(values):
        out = run(values)
        return sum(jnp.sum(weights[n] * v) for n, v in out.items() if n in weights), out

    once = jax.jit(jax.value_and_grad(scalar, has_aux=True), compiler_options=QUICK)
    (loss, out), grads = once(values)
    return loss, out, grads


def emit(f, rand, prefix, about, run, values, given={}):
    """Adds one case to f: inputs, weights, out.*, loss, grad.*.

    values are differentiated; given are constants of the case (sizes, options,
    positions), written down beside them. Returns the results.
    """
    values = {n: np.asarray(v, np.float64) for n, v in values.items()}
    shapes = jax.eval_shape(run, values)
    weights = {n: rand(prefix + weight_name(n), s.shape) for n, s in shapes.items() if n[0] != "_"}
    loss, out, grads = differentiate(run, values, weights)
    for n, v in out.items():
        assert n[0] == "_" or np.max(np.abs(v), initial=0) < LARGE, (prefix, n)
        if n[0] == "_":
            assert np.min(v) > CLEAR, (prefix, n, np.min(v))
    for n, v in grads.items():
        assert np.all(np.isfinite(v)), (prefix, "grad", n)
    first = about
    for n, v in {**values, **given}.items():
        f.add(prefix + n, np.asarray(v) if isinstance(v, np.ndarray) else as_constant(v), first)
        first = None
    f.add_all(prefix, {weight_name(n): weights[n] for n in weights})
    f.add_all(prefix + "out.", {n: v for n, v in out.items() if n in weights})
    f.add(prefix + "loss", loss)
    f.add_all(prefix + "grad.", grads)
    return out


def as_constant(v):
    return np.int64(v) if isinstance(v, (int, np.integer)) else np.float64(v)
