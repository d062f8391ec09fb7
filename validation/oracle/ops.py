"""Single operations of the tape; math.md sections 9.3, 10 and 15."""

import jax
import jax.numpy as jnp
import numpy as np

import rules
import streams
from vector_file import File


def cross_entropy(logits, targets, ignore=-1):
    """Mean of logsumexp(z) - z[target] over the rows whose target is not
    ignored; 0 if there is none."""
    valid = targets != ignore
    picked = jnp.take_along_axis(logits, jnp.where(valid, targets, 0)[..., None], axis=-1)[..., 0]
    nats = jnp.where(valid, jax.nn.logsumexp(logits, axis=-1) - picked, 0)
    return jnp.sum(nats) / jnp.maximum(jnp.sum(valid), 1).astype(logits.dtype)


def gelu_tanh(x):
    return 0.5 * x * (1 + jnp.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))


def gelu_erf(x):
    return 0.5 * x * (1 + jax.lax.erf(x / np.sqrt(2.0)))


def layer_norm(x, gamma, beta, eps=1e-5):
    mean = jnp.mean(x, axis=-1, keepdims=True)
    var = jnp.mean((x - mean) ** 2, axis=-1, keepdims=True)
    return gamma * (x - mean) / jnp.sqrt(var + eps) + beta


def nsilu(x, eps=1e-6):
    s = rules.silu(x)
    return np.sqrt(x.shape[-1]) * s / jnp.sqrt(jnp.sum(s * s, axis=-1, keepdims=True) + eps)


def kl_retention(prior, grad, alpha, theta):
    return jax.nn.softmax(alpha * jnp.log(jnp.maximum(prior, 1e-8)) - theta * grad, axis=-1)


def vectors():
    f = File(
        "Single operations, float64. Written by validation/oracle/make.py. Unless said otherwise",
        "loss = sum(w * y), y = the operation of the inputs, grad.X the gradient of loss.",
    )
    rand = lambda n, shape, r=1.0: streams.uniform("ops." + n, 1, shape, -r, r)

    def emit(prefix, about, function, inputs, extra={}):
        y = function(**inputs)
        w = rand(prefix + "w", y.shape)
        loss = lambda inputs: jnp.sum(w * function(**inputs))
        grads = jax.grad(loss)(inputs)
        first = True
        for n, v in {**inputs, **extra, "w": w}.items():
            f.add(prefix + n, v, about if first else None)
            first = False
        f.add(prefix + "out.y", y)
        f.add_all(prefix + "grad.", grads)

    for prefix, T, pos, about in [
        ("conv_t7.", 7, 100, "short convolution with SiLU, K=4: u [T,n], tail [K-1,n], c [K,n], b [n]"),
        ("conv_t1.", 1, 100, "short convolution, T=1"),
        ("conv_fresh.", 7, 0, "short convolution, a fresh context: the tail is absent"),
        ("conv_pos2.", 7, 2, "short convolution, two tail rows present"),
    ]:
        inputs = {n: rand(prefix + n, s) for n, s in
                  [("u", (T, 3)), ("tail", (3, 3)), ("c", (4, 3)), ("b", (3,))]}
        emit(prefix, about, lambda u, tail, c, b: rules.short_conv(u, tail, pos, c, b)[0], inputs,
             {"pos": np.int64(pos)})
        f.add(prefix + "out.tail_T", rules.short_conv(pos=pos, **inputs)[1])

    for prefix, targets, about in [
        ("ce.", [2, -1, 0, 4, -1, 1], "CrossEntropy: loss = dloss * mean over the valid rows; -1 is ignored"),
        ("ce_all.", [2, 3, 0, 4, 2, 1], "CrossEntropy, every row valid"),
        ("ce_none.", [-1] * 6, "CrossEntropy, every row ignored: 0, no gradient"),
    ]:
        logits, targets = rand(prefix + "logits", (6, 5), 3), np.array(targets, np.int64)
        y, g = jax.value_and_grad(lambda z: 1.75 * cross_entropy(z, targets))(logits)
        f.add(prefix + "logits", logits, about)
        f.add_all(prefix, {"targets": targets, "dloss": np.float64(1.75),
                           "out.y": cross_entropy(logits, targets), "grad.logits": g})

    x = np.concatenate([rand("gelu.x", (12,), 4), [0.0, -0.0, 8.0, -8.0]])
    emit("gelu_tanh.", "GELU, tanh form", gelu_tanh, {"x": x})
    emit("gelu_erf.", "GELU, erf form", gelu_erf, {"x": x})
    emit("layernorm.", "LayerNorm over the last axis, eps 1e-5 beside the variance", layer_norm,
         {n: rand("layernorm." + n, s, 2) for n, s in [("x", (4, 6)), ("gamma", (6,)), ("beta", (6,))]})
    emit("l2rows.", "L2NormalizeRows, eps 1e-8 in a max; no row near it", rules.unit, {"x": rand("l2rows.x", (4, 5))})
    emit("l2rows_eps.", "L2NormalizeRows below eps: row 0 of norm < 1e-8, row 1 zero; y = x / 1e-8 there", rules.unit,
         {"x": np.stack([rand("l2rows_eps.x", (5,), 1e-9), np.zeros(5), rand("l2rows_eps.y", (5,))])})
    emit("nsilu.", "NormalizedSiLU of rows: sqrt(n) s / sqrt(||s||^2 + 1e-6), s = silu(x)", nsilu,
         {"x": np.concatenate([rand("nsilu.x", (4, 6), 2), rand("nsilu.small", (1, 6), 1e-3)])})
    prior = np.array(jax.nn.softmax(rand("kl.prior", (4, 5), 2), axis=-1))
    emit("kl.", "KLRetention: rows softmax(alpha log(max(prior, 1e-8)) - theta grad)", kl_retention,
         {"prior": prior, "grad": rand("kl.grad", (4, 5), 2), "alpha": np.float64(0.9), "theta": np.float64(0.3)})
    prior = prior.copy()
    prior[1, 2], prior[2, 0] = 1e-9, 0
    emit("kl_clamp.", "KLRetention with two entries of prior below 1e-8: no gradient to them", kl_retention,
         {"prior": prior, "grad": rand("kl.grad", (4, 5), 2), "alpha": np.float64(0.9), "theta": np.float64(0.3)})
    return f
