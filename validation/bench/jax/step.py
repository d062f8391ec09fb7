"""Steps of training in JAX, the models of ../torch/step.py by its protocol, in one jitted function.

    python validation/bench/jax/step.py serve 1|2        requests on standard input, as step.go sends them
    python validation/bench/jax/step.py KIND WIDTH BLOCKS 1|2

Needs jax (0.10.2 was used). XLA takes one thread or, with 2, as many as the machine has cores: its pool is made when it is
loaded. Kinds are transformer and magchunk; the head of ../torch/step.py says what they are.
"""
import os
import sys
import time

os.environ["JAX_PLATFORMS"] = "cpu"
if sys.argv[-1] == "1":
    os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"

import jax
import jax.numpy as jnp

BATCH, CHUNK, WINDOW, HEADS, VOCABULARY = 8, 64, 64, 4, 256
B1, B2, EPS, DECAY, RATE = 0.9, 0.999, 1e-8, 0.01, 3e-3


def norm(x):
    x = x - x.mean(-1, keepdims=True)
    return x * jax.lax.rsqrt((x * x).mean(-1, keepdims=True) + 1e-5)


def rotary(x, start):
    n, half = x.shape[-2], x.shape[-1] // 2
    at = jnp.arange(start, start + n)[:, None] / 10000 ** (jnp.arange(half) / half)
    c, s = jnp.cos(at), jnp.sin(at)
    a, b = x[..., :half], x[..., half:]
    return jnp.concatenate([a * c - b * s, a * s + b * c], -1)


def attention(p, x, window, positions):
    b, t, d = x.shape
    q, k, v = (x @ p["qkv"]).reshape(b, t, 3, HEADS, d // HEADS).transpose(2, 0, 3, 1, 4)
    k, v = jnp.concatenate([window[0], k], 2), jnp.concatenate([window[1], v], 2)
    window = jnp.stack([k, v])[:, :, :, t:]
    if positions:
        q, k = rotary(q, WINDOW - 1), rotary(k, 0)
    rows, cols = jnp.arange(t)[:, None], jnp.arange(t + WINDOW - 1)[None] - (WINDOW - 1)
    score = jnp.where((cols <= rows) & (cols > rows - WINDOW), q @ k.swapaxes(2, 3) / (d // HEADS) ** 0.5, -jnp.inf)
    return (jax.nn.softmax(score, -1) @ v).transpose(0, 2, 1, 3).reshape(b, t, d), window


def solve_unit(a, right):
    """(1 + a)⁻¹ right of a strictly lower triangular a: Π (1 + (−a)^(2^i)), six products of 64 × 64. XLA's triangular solve
    waits for ever where it has one thread."""
    power, out = -a, right - a @ right
    for _ in range(CHUNK.bit_length() - 2):
        power = power @ power
        out = out + power @ out
    return out


def delta(p, x, state):
    tail, m0 = state
    t, d = x.shape[1:]
    kq, v = jnp.split(x @ p["proj"], [2 * d], -1)
    stack = jnp.concatenate([tail, kq], 1)
    kq = jax.nn.silu(p["conv_b"] + sum(p["conv"][a] * stack[:, a:a + t] for a in range(4)))
    k, q = (z * jax.lax.rsqrt(jnp.maximum((z * z).sum(-1, keepdims=True), 1e-24)) for z in (kq[..., :d], kq[..., d:]))
    g = jnp.concatenate([k, v], -1) @ p["gates"] + p["gates_b"]
    log_rho, theta = jax.nn.log_sigmoid(g[..., 0]), jax.nn.softplus(g[..., 1])
    c = jnp.cumsum(log_rho, 1)
    before = c - log_rho
    strict = jnp.tril(jnp.ones((t, t), bool), -1)
    a = (k @ k.swapaxes(1, 2)) * jnp.exp(jnp.where(strict, before[:, :, None] - c[:, None], -jnp.inf)) * theta[:, None]
    right = jnp.exp(before)[..., None] * (k @ m0.swapaxes(1, 2)) - v
    e = solve_unit(a, right)
    upto = jnp.exp(jnp.where(strict | jnp.eye(t, dtype=bool), c[:, :, None] - c[:, None], -jnp.inf))
    y = jnp.exp(c)[..., None] * (q @ m0.swapaxes(1, 2)) - ((q @ k.swapaxes(1, 2)) * upto * theta[:, None]) @ e
    m = jnp.exp(c[:, -1])[:, None, None] * m0 - (e * (jnp.exp(c[:, -1:] - c) * theta)[..., None]).swapaxes(1, 2) @ k
    return y, (stack[:, t:], m)


def loss(params, contexts, ids, following, kind):
    x, kept = params["embed"][ids], []
    for p, (window, memory) in zip(params["blocks"], contexts):
        z = norm(x) * p["norm"] + p["norm_b"]
        a, window = attention(p, z, window, kind == "transformer")
        if kind != "transformer":
            y, memory = delta(p, z, memory)
            a = a * jax.nn.sigmoid(y)
        x = x + a @ p["out"]
        x = x + jax.nn.silu((norm(x) * p["norm2"] + p["norm2_b"]) @ p["up"]) @ p["down"]
        kept.append((window, memory))
    z = (norm(x) * params["norm"] + params["norm_b"]) @ params["head"]
    nats = jax.nn.logsumexp(z, -1) - jnp.take_along_axis(z, following[..., None], -1)[..., 0]
    return nats.mean(), kept


def start(kind, d, blocks):
    """Parameters and contexts."""
    keys = iter(jax.random.split(jax.random.key(1), 8 * blocks + 2))
    matrix = lambda rows, cols: jax.random.normal(next(keys), (rows, cols)) * rows**-0.5
    one, zero = jnp.ones(d), jnp.zeros(d)
    params = {"embed": matrix(VOCABULARY, d), "head": matrix(d, VOCABULARY), "norm": one, "norm_b": zero, "blocks": []}
    contexts = []
    for _ in range(blocks):
        p = {"qkv": matrix(d, 3 * d), "out": matrix(d, d), "up": matrix(d, 4 * d), "down": matrix(4 * d, d),
             "norm": one, "norm_b": zero, "norm2": one, "norm2_b": zero}
        memory = ()
        if kind != "transformer":
            p |= {"proj": matrix(d, 3 * d), "conv": matrix(4, 2 * d), "conv_b": jnp.zeros(2 * d), "gates": matrix(2 * d, 2), "gates_b": jnp.array([3.0, -4.6])}
            memory = (jnp.zeros((BATCH, 3, 2 * d)), jnp.zeros((BATCH, d, d)))
        params["blocks"].append(p)
        contexts.append((jnp.zeros((2, BATCH, HEADS, WINDOW - 1, d // HEADS)), memory))
    return params, contexts


class Trainer:
    def __init__(self, kind, d, blocks):
        params, contexts = start(kind, d, blocks)
        self.count = sum(x.size for x in jax.tree.leaves(params))
        zeros = jax.tree.map(jnp.zeros_like, params)
        self.state = (jax.tree.map(jnp.copy, params), zeros, jax.tree.map(jnp.copy, zeros), contexts, jnp.zeros(()))
        text = jax.random.randint(jax.random.key(2), (BATCH, CHUNK + 1), 0, VOCABULARY)
        self.text = text[:, :-1], text[:, 1:]

        def run(state, ids, following):
            params, m, s, contexts, n = state
            (nats, contexts), g = jax.value_and_grad(loss, has_aux=True)(params, contexts, ids, following, kind)
            n = n + 1
            m = jax.tree.map(lambda m, g: B1 * m + (1 - B1) * g, m, g)
            s = jax.tree.map(lambda s, g: B2 * s + (1 - B2) * g * g, s, g)
            params = jax.tree.map(lambda p, m, s: p - RATE * (m / (1 - B1**n) / (jnp.sqrt(s / (1 - B2**n)) + EPS) + DECAY * p), params, m, s)
            return (params, m, s, contexts, n), nats

        self.run = jax.jit(run, donate_argnums=0)

    def step(self):
        cpu, at = time.process_time_ns(), time.perf_counter_ns()
        self.state, nats = jax.block_until_ready(self.run(self.state, *self.text))
        return time.process_time_ns() - cpu, time.perf_counter_ns() - at, float(nats)


def serve():
    trainers = []
    for line in sys.stdin:
        word, *rest = line.split()
        if word == "new":
            trainers.append(Trainer(rest[0], int(rest[1]), int(rest[2])))
            print(trainers[-1].count, flush=True)
        else:
            for _ in range(int(rest[1])):
                trainers[int(rest[0])].step()
            print(*trainers[int(rest[0])].step(), flush=True)


def main():
    if sys.argv[1] == "serve":
        return serve()
    kind, d, blocks = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    t = Trainer(kind, d, blocks)
    nats = [t.step()[2]]
    times = sorted(t.step()[1] for _ in range(40))
    print(f"{kind} width {d}, {blocks} blocks, {t.count} parameters: least {times[0] / 1e6:.2f} ms, median {times[20] / 1e6:.2f} ms,"
          f" {BATCH * CHUNK / times[20] * 1e9:.0f} tokens/s; nats {nats[0]:.3f} then {t.step()[2]:.3f}")


if __name__ == "__main__":
    main()
