#!/usr/bin/env python3
"""Rewrites validation/oracle/vectors and validation/oracle/curves; with --check, writes nothing and
compares what it would write with what is there. See README.md.

    python3 validation/oracle/make.py [--check] [NAME…]

NAME picks files by their name without .txt, for instance delta_rule or zero_b.
"""

import os
import pathlib
import sys

# Before jax starts: the CPU, float64, and one thread, for the same sums each time.
os.environ["JAX_PLATFORMS"] = "cpu"
os.environ["JAX_ENABLE_X64"] = "1"
os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"

try:
    import jax
    import numpy as np
except ImportError as e:
    sys.exit(f"oracle: {e.name} is missing: pip install -r validation/oracle/requirements.txt (or: make oracle)")
jax.config.update("jax_default_matmul_precision", "highest")

import algorithms
import attention
import blocks
import compositions
import heads
import longer
import memories
import models
import ops
import pieces
import printed
import published
import recurrences
import rules
import self_reference
import streams
import updates
from vector_file import File, parse

HERE = pathlib.Path(__file__).parent

VECTORS = {
    "streams": lambda: streams.vectors(File),
    "delta_rule": lambda: rules.vectors(rules.DELTA),
    "titans_lmm": lambda: rules.vectors(rules.TITANS),
    "hebbian": lambda: rules.vectors(rules.HEBBIAN),
    "inner": rules.inner_vectors,
    "attention": attention.vectors,
    "blocks": blocks.vectors,
    "compositions": compositions.vectors,
    "ops": ops.vectors,
    "adamw": models.adamw_vectors,
    "zero_a_small": lambda: models.small_vectors("a"),
    "zero_a_big": lambda: models.big_vectors("a"),
    "zero_b_small": lambda: models.small_vectors("b"),
    "zero_b_big": lambda: models.big_vectors("b"),
    **memories.VECTORS,
    **pieces.VECTORS,
    **algorithms.VECTORS,
    **longer.VECTORS,
    "selfref": self_reference.vectors,
    "updates": updates.vectors,
    "published": published.vectors,
    "recurrences": recurrences.vectors,
    "heads": heads.vectors,
    "printed": printed.vectors,
}
CURVES = {
    "zero_a": ("a", np.float32),
    "zero_b": ("b", np.float32),
    "zero_a_f64": ("a", np.float64),
    "zero_b_f64": ("b", np.float64),
}

# Another processor may round the last bit otherwise; a curve adds that up over its steps.
VECTOR_TOLERANCE, CURVE_TOLERANCE = 1e-11, 1e-2


def compare_vectors(old, new):
    """The reason why two vector files differ, or None."""
    old, new = parse(old), parse(new)
    if list(old) != list(new):
        return "other tensors"
    for name in old:
        a, b = old[name], new[name]
        if a.shape != b.shape or a.dtype != b.dtype:
            return f"{name}: shape or kind"
        if a.dtype.kind == "i" and not np.array_equal(a, b):
            return f"{name}: {a} is now {b}"
        if not np.allclose(b, a, rtol=VECTOR_TOLERANCE, atol=VECTOR_TOLERANCE * max(1, np.max(np.abs(a[np.isfinite(a)]), initial=0))):
            return f"{name}: off by {np.max(np.abs(a - b))}"
    return None


def compare_curves(old, new):
    read = lambda text: np.array([float.fromhex(l) for l in text.splitlines() if not l.startswith("#")])
    old, new = read(old), read(new)
    if len(old) != len(new):
        return f"{len(old)} steps are now {len(new)}"
    off = np.max(np.abs(new / old - 1))
    return f"off by {off:.2g} of a loss" if off > CURVE_TOLERANCE else None


def main(args):
    check = "--check" in args
    names = [a for a in args if a != "--check"]
    for n in names:
        if n not in VECTORS and n not in CURVES:
            sys.exit(f"oracle: no file {n}; there are: {' '.join([*VECTORS, *CURVES])}")
    jobs = [(HERE / "vectors" / f"{n}.txt", lambda f=f: f().text(), compare_vectors) for n, f in VECTORS.items()]
    jobs += [(HERE / "curves" / f"{n}.txt", lambda a=a: models.curve_text(*a, models.curve(*a)), compare_curves)
             for n, a in CURVES.items()]
    failed = 0
    for path, make, compare in jobs:
        if names and path.stem not in names:
            continue
        text = make()
        assert text.isascii() or path.stem == "streams"
        if check:
            problem = compare(path.read_text("utf-8"), text) if path.exists() else "missing"
            failed += problem is not None
            print(f"{path.relative_to(HERE)}: {problem or 'agrees'}")
        else:
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, "utf-8")
            print(f"{path.relative_to(HERE)}: {len(text)} bytes")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main(sys.argv[1:])
