"""Track Zero: the byte model with attention alone (Zero-A) and with a delta
rule that gates the attention (Zero-B); AdamW; gradients and loss curves."""

import math
import pathlib

import jax
import jax.numpy as jnp
import numpy as np

import ops
import rules
import streams
from attention import attention
from vector_file import File, hexfloat

TEXT = pathlib.Path(__file__).parent.parent.parent / "command/text/crossroads.txt"
SEED = 1


class Model:
    """kind "a" or "b", width d, heads, vocabulary V, attention window."""

    def __init__(self, kind, d, heads, V, window):
        self.kind, self.d, self.heads, self.V, self.window = kind, d, heads, V, window

    def params(self, dtype=np.float64):
        """The parameters at the start, in float64, then rounded to dtype."""
        d = self.d
        root, gate, tap = 1 / math.sqrt(d), 1 / math.sqrt(2 * d), 1 / math.sqrt(rules.K)
        bounds = {"E": ((self.V, d), root), "H": ((self.V, d), root), "W_O": ((d, d), root)}
        for n in ("W_Q", "W_K", "W_V"):
            bounds["attention." + n] = ((d, d), root)
        fixed = {}
        if self.kind == "b":
            for n in ("W_K", "W_Q", "W_V"):
                bounds["memory." + n] = ((d, d), root)
            for n in ("c_K", "c_Q"):
                bounds["memory." + n] = ((rules.K, d), tap)
            for n in ("w_rho", "w_theta"):
                bounds["memory." + n] = ((2 * d,), gate)
            fixed = {"memory.b_K": np.zeros(d), "memory.b_Q": np.zeros(d),
                     "memory.b_rho": np.float64(3.0), "memory.b_theta": np.float64(-4.6)}
        p = {n: streams.uniform(n, SEED, shape, -r, r) for n, (shape, r) in bounds.items()} | fixed
        return {n: np.asarray(v, dtype) for n, v in p.items()}

    def fresh(self, sequences, dtype=np.float64):
        """The context before the first token: zeros, and pos = 0."""
        shapes = {"attention.tail_k": (self.window - 1, self.d), "attention.tail_v": (self.window - 1, self.d)}
        if self.kind == "b":
            shapes |= {"memory.M": (self.d, self.d), "memory.tail_k": (rules.K - 1, self.d),
                       "memory.tail_q": (rules.K - 1, self.d)}
        ctx = {n: np.zeros((sequences,) + s, dtype) for n, s in shapes.items()}
        return ctx | {"pos": np.zeros(sequences, np.int64)}

    def block(self, p, x, ctx):
        """One sequence: x [T, d] to [T, d], and the context after it."""
        part = lambda tree, name: {n.removeprefix(name): v for n, v in tree.items() if n.startswith(name)}
        pos = {"pos": ctx["pos"]}
        a, c = attention(part(p, "attention."), x, part(ctx, "attention.") | pos, self.heads, self.window)
        after = {"attention.tail_k": c["tail_k"], "attention.tail_v": c["tail_v"], "pos": c["pos"]}
        if self.kind == "b":
            m, c, _ = rules.DELTA.apply(part(p, "memory."), x, part(ctx, "memory.") | pos)
            after |= {"memory." + n: c[n] for n in ("M", "tail_k", "tail_q")}
            a = a * jax.nn.sigmoid(m)
        return a @ p["W_O"].T, after

    def loss(self, p, ids, targets, ctx):
        """Mean nats over the valid targets of all sequences; ids, targets [L, T]."""
        h, after = jax.vmap(self.block, (None, 0, 0))(p, p["E"][ids], ctx)
        z = h @ p["H"].T
        return ops.cross_entropy(z, targets), (z, after)

    def grad(self):
        """jitted (p, ids, targets, ctx) -> (loss, (logits, ctx)), gradients.

        Only p is differentiated: the context that comes in is a constant, which
        is the cut at the edge of a chunk.
        """
        return jax.jit(jax.value_and_grad(self.loss, has_aux=True))


# AdamW

B1, B2, EPS, DECAY = 0.9, 0.999, 1e-8, 0.1


def learning_rate(n, lr=3e-3, warmup=50):
    """Of step n, counted from 1."""
    return lr * min(1, n / warmup)


def scalars(n, dtype=np.float64):
    """The learning rate and the bias corrections of step n, counted from 1:
    reckoned in float64, then rounded to dtype."""
    return dtype(learning_rate(n)), dtype(1 - B1**n), dtype(1 - B2**n)


def decays(name):
    """Biases do not decay: b_K, b_Q, b_rho, b_theta."""
    return not name.rpartition(".")[2].startswith("b_")


def adamw(w, g, m, s, step, decay):
    """(w, m, s) of one parameter after a step; see scalars."""
    lr, c1, c2 = step
    m = B1 * m + (1 - B1) * g
    s = B2 * s + (1 - B2) * (g * g)
    u = (m / c1) / (jnp.sqrt(s / c2) + EPS)
    return w - lr * (u + (DECAY * w if decay else 0)), m, s


def adamw_vectors():
    f = File(
        "AdamW, float64: b1=0.9 b2=0.999 eps=1e-8, decay 0.1 (decoupled, times lr), n from 1,",
        "lr of step n = 3e-3 min(1, n/50). g.N, w.N, m.N, s.N: gradient of, and state after step N.",
    )
    for prefix, decay in [("decay.", True), ("nodecay.", False)]:
        w = streams.uniform("adamw.w", 1, (6,), -1, 1)
        m = s = np.zeros(6)
        f.add(prefix + "w.0", w)
        for n in range(1, 6):
            g = streams.uniform(f"adamw.g.{n}", 1, (6,), -1, 1)
            g[5] = 0  # an entry without gradient
            w, m, s = adamw(w, g, m, s, scalars(n), decay)
            f.add_all(prefix, {f"lr.{n}": np.float64(learning_rate(n)), f"g.{n}": g, f"w.{n}": w, f"m.{n}": m, f"s.{n}": s})
    steps = [1, 2, 10, 49, 50, 51, 1000]
    f.add("lr.step", np.array(steps, np.int64))
    f.add("lr", np.array([learning_rate(n) for n in steps]))
    return f


# Gradients of the third chunk

CHUNKS, T = 3, 8


def third_chunk(model, name):
    """ids, targets and, for the third chunk given the carried context, the
    losses, logits, contexts and gradients; the parameters do not change."""
    tokens = streams.integers(f"{name}.tokens", SEED, (CHUNKS * T + 1,), model.V)
    ids, targets = tokens[:-1].reshape(CHUNKS, 1, T), tokens[1:].reshape(CHUNKS, 1, T).copy()
    targets[2, 0, 3] = -1  # one position without a target
    p, ctx, grad, losses = model.params(), model.fresh(1), model.grad(), []
    for c in range(CHUNKS):
        before = ctx
        (loss, (logits, ctx)), g = grad(p, ids[c], targets[c], ctx)
        losses.append(float(loss))
    return p, ids, targets, np.array(losses), logits, before, ctx, g


def small_vectors(kind):
    model = Model(kind, d=8, heads=2, V=16, window=3)
    f = File(
        f"Zero-{kind.upper()}, d=8 H=2 V=16 window=3, 3 chunks of T=8, 1 sequence, float64, seed {SEED}.",
        "ids and targets are [chunk, sequence, T]. loss: of each chunk. out.logits and grad.X: of the",
        "third chunk, given the context ctx.X that the first two left; after.X: the context after it.",
    )
    p, ids, targets, losses, logits, before, after, g = third_chunk(model, f"zero_{kind}.small")
    f.add_all("", {"ids": ids, "targets": targets})
    f.add_all("", p)
    f.add("loss", losses)
    f.add_all("ctx.", before)
    f.add("out.logits", logits)
    f.add_all("after.", after)
    f.add_all("grad.", g)
    return f


def big_vectors(kind):
    model = Model(kind, d=64, heads=4, V=256, window=16)
    f = File(
        f"Zero-{kind.upper()}, d=64 H=4 V=256 window=16, 3 chunks of T=8, 1 sequence, float64, seed {SEED}.",
        "As the small file, but of each gradient only X.norm (root of the sum of squares), X.sum and",
        "X.at, its entries at the flat row-major indices X.index; param.X likewise has the start values.",
    )
    p, ids, targets, losses, logits, before, after, g = third_chunk(model, f"zero_{kind}.big")
    f.add_all("", {"ids": ids, "targets": targets, "loss": losses})

    def digest(prefix, value, index):
        value = np.asarray(value)
        f.add(prefix + ".norm", np.sqrt(np.sum(value * value)))
        f.add(prefix + ".sum", np.sum(value))
        f.add(prefix + ".index", index)
        f.add(prefix + ".at", value.ravel()[index])

    def index(name, size):
        if size <= 16:
            return np.arange(size)
        at = streams.integers("index." + name, SEED, (16,), size)
        if name == "E":  # rows of ids of the third chunk: the others have no gradient
            at = ids[2, 0, np.arange(16) % T] * model.d + at % model.d
        return at

    digest("out.logits", logits, index("logits", logits.size))
    for n in p:
        digest("param." + n, p[n], index(n, p[n].size))
    for n in g:
        digest("grad." + n, g[n], index(n, p[n].size))
    return f


# Loss curves

CURVE = dict(d=32, heads=4, V=256, window=16)
CURVE_T, BATCH, STEPS = 32, 4, 1000


def slots():
    """The first nine tenths of the text, n = len * 9 / 10 rounded down; slot i is
    bytes [i*n/4, (i+1)*n/4), both rounded down."""
    text = np.frombuffer(TEXT.read_bytes(), np.uint8).astype(np.int64)
    n = len(text) * 9 // 10
    return [text[i * n // BATCH : (i + 1) * n // BATCH] for i in range(BATCH)]


def batches():
    """Endless (ids, targets, starts): chunk c of a slot reads its positions c*T …
    c*T+T-1 and has the next positions as targets; if a target would lie beyond
    the slot, the sequence goes back to chunk 0, where a fresh context starts."""
    parts, chunk = slots(), [0] * BATCH
    while True:
        for i in range(BATCH):
            if chunk[i] * CURVE_T + CURVE_T >= len(parts[i]):
                chunk[i] = 0
        at = [c * CURVE_T for c in chunk]
        ids = np.stack([s[a : a + CURVE_T] for s, a in zip(parts, at)])
        targets = np.stack([s[a + 1 : a + 1 + CURVE_T] for s, a in zip(parts, at)])
        yield ids, targets, np.array([c == 0 for c in chunk])
        chunk = [c + 1 for c in chunk]


def curve(kind, dtype):
    """The loss of every step, before its update."""
    model = Model(kind, **CURVE)
    p, ctx = model.params(dtype), model.fresh(BATCH, dtype)
    fresh = ctx
    m = {n: np.zeros_like(v) for n, v in p.items()}
    s = m
    grad = jax.value_and_grad(model.loss, has_aux=True)

    @jax.jit
    def step(p, m, s, ctx, ids, targets, starts, numbers):
        pick = lambda a, b: jnp.where(starts.reshape((-1,) + (1,) * (b.ndim - 1)), a, b)
        ctx = jax.tree.map(pick, fresh, ctx)
        (loss, (_, ctx)), g = grad(p, ids, targets, ctx)
        new = {n: adamw(p[n], g[n], m[n], s[n], numbers, decays(n)) for n in p}
        p, m, s = ({n: v[i] for n, v in new.items()} for i in range(3))
        return p, m, s, ctx, loss

    losses = []
    for n, (ids, targets, starts) in zip(range(1, STEPS + 1), batches()):
        p, m, s, ctx, loss = step(p, m, s, ctx, ids, targets, starts, scalars(n, dtype))
        losses.append(loss)
    return np.array(losses)


def curve_text(kind, dtype, losses):
    """One hexadecimal float per line, after a header of comments."""
    size = TEXT.stat().st_size
    chunks = [(len(s) - 1) // CURVE_T for s in slots()]
    head = [
        f"Zero-{kind.upper()}: loss in nats of each step before its update, {np.dtype(dtype).name}.",
        f"d={CURVE['d']} H={CURVE['heads']} V={CURVE['V']} window={CURVE['window']} T={CURVE_T} batch={BATCH}"
        f" steps={STEPS} seed={SEED}" + (" conv=4 unit=on" if kind == "b" else ""),
        f"AdamW b1={B1} b2={B2} eps={EPS} decay={DECAY} lr=3e-3 warmup=50, no clipping.",
        f"text: command/text/crossroads.txt, {size} bytes, first {size * 9 // 10};"
        f" chunks in each slot: {' '.join(map(str, chunks))}.",
    ]
    return "".join(f"# {l}\n" for l in head) + "".join(hexfloat(x) + "\n" for x in losses)
