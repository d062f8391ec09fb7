"""What rules are made of: attentional biases, retentions, Newton-Schulz and
feature maps, each as the plain function that math.md sections 2, 3, 4.6 and 8.3
define. Nothing here is a derivative written by hand."""

import jax
import jax.numpy as jnp
import numpy as np

from rules import silu

SHARPNESS = 10.0  # a of tanh(a e)
SMOOTH = 1e-6  # eps of (e^2 + eps)
LOG_CLAMP = 1e-8


def norm(x):
    return jnp.sqrt(jnp.sum(x * x))


def distance(x, kink):
    """The smallest distance of an entry of x from the kink."""
    return jnp.min(jnp.abs(x - kink))


# Biases: slope(y, v, h), the gradient of the objective with respect to the
# output y of the memory. h holds the constants delta, p, tau.


def l2(y, v, h):
    return y - v


def dot(y, v, h):
    return -v + 0 * y


def huber(y, v, h):
    e = y - v
    return jnp.where(jnp.abs(e) <= h["delta"], e, h["delta"] * jnp.sign(e))


def huber_norm(y, v, h):
    e = y - v
    n = norm(e)
    return jnp.where(n <= h["delta"], e, h["delta"] * e / n)


def huber_sign(y, v, h):
    e = y - v
    return jnp.where(norm(e) <= h["delta"], e, h["delta"] * jnp.sign(e))


def l1(y, v, h):
    return jnp.tanh(SHARPNESS * (y - v))


def lp_printed(y, v, h):
    """MIRAS' form under the 1/p convention: no factor p."""
    e = y - v
    return jnp.tanh(SHARPNESS * e) * (e * e + SMOOTH) ** ((h["p"] - 1) / 2)


def lp_smooth(y, v, h):
    """The gradient of (e^2 + eps)^(p/2) / p."""
    e = y - v
    return e * (e * e + SMOOTH) ** ((h["p"] - 2) / 2)


def lp(y, v, h):
    """The dispatch of 2.7: exact at p = 1 and p = 2, the printed form otherwise."""
    return {1: l1, 2: l2}.get(h["p"], lp_printed)(y, v, h)


def kl(y, v, h):
    """softmax(y) - softmax(v / tau)."""
    return jax.nn.softmax(y) - jax.nn.softmax(v / h["tau"])


def objective(name, y, v, h):
    """The inner objective that a slope belongs to, None where there is none in
    closed form (the printed l_p) or none at all (the sign form of Huber)."""
    e = y - v
    n = norm(e)
    if name == "l2":
        return 0.5 * jnp.sum(e * e)
    if name == "dot":
        return -jnp.sum(y * v)
    if name == "huber":
        a = jnp.abs(e)
        return jnp.sum(jnp.where(a <= h["delta"], 0.5 * e * e, h["delta"] * (a - 0.5 * h["delta"])))
    if name == "huber_norm":
        return jnp.where(n <= h["delta"], 0.5 * n * n, h["delta"] * (n - 0.5 * h["delta"]))
    if name == "l1":
        a = jnp.abs(SHARPNESS * e)
        return jnp.sum(a + jnp.log1p(jnp.exp(-2 * a)) - np.log(2)) / SHARPNESS
    if name == "lp_smooth":
        return jnp.sum((e * e + SMOOTH) ** (h["p"] / 2)) / h["p"]
    if name == "kl":
        target = jax.nn.log_softmax(v / h["tau"])
        return jnp.sum(jnp.exp(target) * (target - jax.nn.log_softmax(y)))
    return None


def huber_margin(y, v, h):
    """How far every coordinate (or the norm) is from the switch."""
    return jnp.minimum(distance(jnp.abs(y - v), h["delta"]), distance(norm(y - v), h["delta"]))


# Retentions: the next weights from the previous ones, the inner gradient g and
# the gates rho and theta; rows are the rows of a matrix.


def keep_l2(W, g, rho, theta, h):
    return rho * W - theta * g


def keep_kl(W, g, rho, theta, h):
    """c softmax(rho log W - theta g), row by row."""
    return h["c"] * jax.nn.softmax(rho * jnp.log(jnp.maximum(W, LOG_CLAMP)) - theta * g, axis=-1)


def keep_elastic(W, g, rho, theta, h):
    """The threshold scales with the step: theta l1."""
    z = rho * W - theta * g
    return jnp.where(jnp.abs(z) > theta * h["l1"], z - jnp.sign(z) * theta * h["l1"], 0.0)


def keep_anchored(W, g, rho, theta, h, W_b):
    return rho * W - theta * (g + 2 * h["lambda_loc"] * (W - W_b) + 2 * h["lambda2"] * W)


def keep_sphere(s, g, theta):
    """The step along the tangent, then back to the unit sphere, row by row."""
    step = -theta * g
    step = step - jnp.sum(s * step, axis=-1, keepdims=True) * s
    u = s + step
    return u / jnp.sqrt(jnp.sum(u * u, axis=-1, keepdims=True))


def keep_sigmoid(Z, g, rho, theta, euclidean=False):
    """The next logits; the weights are sigmoid of them. euclidean multiplies g
    by W (1 - W)."""
    W = jax.nn.sigmoid(Z)
    return rho * Z - theta * (g * W * (1 - W) if euclidean else g)


# F' and its inverse for the Bregman retention W' = F'^-1(F'(W) - theta g).
BREGMAN = {
    "identity": (lambda w, h: w, lambda u, h: u),
    "log": (lambda w, h: jnp.log(jnp.maximum(w, 1e-6)), lambda u, h: jnp.exp(u)),
    "logit": (lambda w, h: (lambda c: jnp.log(c / (1 - c)))(jnp.clip(w, 1e-6, 1 - 1e-6)),
              lambda u, h: jax.nn.sigmoid(u)),
    "power": (lambda w, h: jnp.sign(w) * jnp.abs(w) ** (h["r"] - 1),
              lambda u, h: jnp.sign(u) * jnp.abs(u) ** (1 / (h["r"] - 1))),
}


def keep_bregman(W, g, theta, kind, h):
    forth, back = BREGMAN[kind]
    return back(forth(W, h) - theta * g, h)


# phi = (f')^-1 of the f-divergences, and where zeta may lie so that phi is defined.
DIVERGENCE = {
    "tlogt": lambda x: jnp.exp(x - 1),
    "chi2": lambda x: jnp.maximum(1 + x, 0.0),
    "log": lambda x: -1 / x,
    "root": lambda x: 1 / (x * x),
}


def keep_divergence(W, g, theta, kind, h):
    """W phi(-zeta - theta g) with the zeta that makes every row sum to c.

    The root is found by bisection, where no gradient flows; one Newton step
    from it then moves nothing and carries the derivative of the root.
    """
    phi = DIVERGENCE[kind]

    def row(w, g):
        total = lambda zeta: jnp.sum(w * phi(-zeta - theta * g)) - h["c"]
        w_, g_ = jax.lax.stop_gradient((w, theta * g))
        frozen = lambda zeta: jnp.sum(w_ * phi(-zeta - g_)) - h["c"]
        low = jnp.max(-g_) + 1e-12 if kind in ("log", "root") else -jnp.max(g_) - 50.0
        high = low + 1e3

        def halve(_, ends):
            a, b = ends
            m = 0.5 * (a + b)
            return jnp.where(frozen(m) > 0, m, a), jnp.where(frozen(m) > 0, b, m)

        a, b = jax.lax.fori_loop(0, 200, halve, (low, high))
        zeta = jax.lax.stop_gradient(0.5 * (a + b))
        slope = jax.lax.stop_gradient(jax.grad(frozen)(zeta))
        zeta = zeta - total(zeta) / slope
        return w * phi(-zeta - theta * g)

    return jax.vmap(row)(W, g)


def mirror(A, q):
    """W = (r-1) sign(A) |A|^(q-1) ||A||_q^(2-q), 1/r + 1/q = 1, over the whole matrix."""
    n = jnp.sum(jnp.abs(A) ** q) ** (1 / q)
    return jnp.sign(A) * jnp.abs(A) ** (q - 1) * n ** (2 - q) / (q - 1)


def mirror_printed(A, q, eps):
    """W = A / ||A||_q^(q-2), eps inside the norm: (sum |A|^q + eps)^(1/q)."""
    return A / (jnp.sum(jnp.abs(A) ** q) + eps) ** ((q - 2) / q)


def nsilu(z, eps=1e-6):
    s = silu(z)
    return np.sqrt(z.shape[-1]) * s / jnp.sqrt(jnp.sum(s * s) + eps)


def newton_schulz(S, steps, eps=1e-7):
    """Quintic steps from S / (||S||_F + eps), on the small side."""
    if steps == 0:
        return S
    a, b, c = 3.4445, -4.7750, 2.0315
    tall = S.shape[0] > S.shape[1]
    X = (S.T if tall else S) / (norm(S) + eps)

    def quintic(X, _):
        A = X @ X.T
        return a * X + (b * A + c * A @ A) @ X, None

    X, _ = jax.lax.scan(quintic, X, None, steps)  # unrolled, XLA takes minutes
    return X.T if tall else X


# Feature maps of one key or query; p holds their parameters.


def phi_linear(x, p):
    return p["Phi"] @ x


def phi_rff(x, p):
    D = p["Phi"].shape[0]
    return np.sqrt(2 / D) * jnp.cos(p["Phi"] @ x + p["phase"])


def phi_elu(x, p):
    return jnp.where(x > 0, x + 1, jnp.exp(jnp.minimum(x, 0.0)))


def phi_poly2(x, p):
    """1, x_i, x_i x_j / 2 for i <= j in lexicographic order."""
    i, j = np.triu_indices(x.shape[0])
    return jnp.concatenate([jnp.ones(1), x, x[i] * x[j] / 2])


def phi_mlp(x, p):
    return x + p["Phi2"] @ silu(p["Phi1"] @ x)
