"""Runs the memory rules with JAX on request, forward and backward of one jitted
lax.scan, and the whole model of zerob.py, so that another process can time its own
beside them. See ../peer.go for the other end.

Requests come on standard input, one line each; numbers are float32 as they lie
in memory:

    rule NAME T D        then the inputs of rules.py in its order; rules are
                         counted from 0 in the order of their coming. Compiles.
    step RULE WARM       runs it WARM times unmeasured and once measured; answers
                         the nanoseconds of this process on its CPUs and of the
                         clock on the wall
    stepped RULE NAME    answers a result of the last step
    model KIND LANES CHUNK STEPS D V H W UNROLL NAMES
                         then the parameters of those names and the tokens, lane by
                         lane, CHUNK * STEPS + 1 each; models are counted from 0. KIND is
                         build or stream. Compiles.
    chunk MODEL WARM     takes WARM chunks unmeasured and the next one measured; answers
                         the times and the loss of the last

Everything is on one thread, the flags for which must stand before JAX is loaded; with
the argument "all", on as many as JAX takes.
"""

import os
import sys
import time

os.environ["JAX_PLATFORMS"] = "cpu"
if sys.argv[1:] != ["all"]:
    os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ[name] = "1"

import jax
import numpy as np

sys.dont_write_bytecode = True
import rules
import zerob


class Loaded:
    """A rule bound to its inputs."""

    def __init__(self, name, T, d, stream):
        rule = rules.RULES[name]
        shapes = rule.inputs(T, d)
        given = {n: read(stream, shape) for n, shape in shapes.items()}
        self.run = jax.jit(rule.both(T, d)).lower(given).compile()
        self.given = jax.device_put(given)
        self.results = None

    def step(self):
        self.results = jax.block_until_ready(self.run(self.given))


def read(stream, shape):
    n = int(np.prod(shape)) * 4
    raw = stream.read(n)
    if len(raw) != n:
        sys.exit("validation/bench/jax: short input")
    return np.frombuffer(raw, np.float32).reshape(shape)


def model(stream, kind, lanes, chunk, steps, d, V, heads, window, unroll, names):
    lanes, chunk, steps, d, V, heads, window, unroll = map(int, (lanes, chunk, steps, d, V, heads, window, unroll))
    shapes, names = zerob.shapes(d, V), names.split(",")
    if set(names) != set(shapes):
        sys.exit(f"validation/bench/jax: the parameters differ: {set(names) ^ set(shapes)}")
    params = {n: read(stream, shapes[n]) for n in names}
    tokens = read(stream, (lanes, chunk * steps + 1)).astype(np.int32)
    return zerob.Model(kind, params, tokens, lanes, chunk, heads, window, unroll)


def timed(step, warm):
    """The nanoseconds of a step on the CPUs and on the wall, and what it returns."""
    for _ in range(warm):
        step()
    cpu, wall = time.process_time_ns(), time.perf_counter_ns()
    got = step()
    return time.process_time_ns() - cpu, time.perf_counter_ns() - wall, got


def main():
    loaded, models, out = [], [], sys.stdout.buffer
    for line in sys.stdin.buffer:
        word, *args = line.decode().split()
        if word == "rule":
            loaded.append(Loaded(args[0], int(args[1]), int(args[2]), sys.stdin.buffer))
        elif word == "model":
            models.append(model(sys.stdin.buffer, *args))
        elif word == "step":
            out.write(b"%d %d\n" % timed(loaded[int(args[0])].step, int(args[1]))[:2])
        elif word == "chunk":
            out.write(b"%d %d %.9g\n" % timed(models[int(args[0])].step, int(args[1])))
        elif word == "stepped":
            out.write(np.asarray(loaded[int(args[0])].results[args[1]], np.float32).tobytes())
        else:
            sys.exit("validation/bench/jax: unknown request")
        out.flush()


main()
