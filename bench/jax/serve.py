"""Runs the memory rules with JAX on request, forward and backward of one jitted
lax.scan, so that another process can time its own beside them. See ../peer.go
for the other end.

Requests come on standard input, one line each; numbers are float32 as they lie
in memory:

    rule NAME T D        then the inputs of rules.py in its order; rules are
                         counted from 0 in the order of their coming. Compiles.
    step RULE WARM       runs it WARM times unmeasured and once measured; answers
                         the nanoseconds of this process on its CPUs and of the
                         clock on the wall
    stepped RULE NAME    answers a result of the last step

Everything is on one thread: the flags below must stand before JAX is loaded.
"""

import os
import sys
import time

os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
os.environ["JAX_PLATFORMS"] = "cpu"
for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = "1"

import jax
import numpy as np

sys.dont_write_bytecode = True
import rules


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
        sys.exit("bench/jax: short input")
    return np.frombuffer(raw, np.float32).reshape(shape)


def main():
    loaded, out = [], sys.stdout.buffer
    for line in sys.stdin.buffer:
        word, *args = line.decode().split()
        if word == "rule":
            loaded.append(Loaded(args[0], int(args[1]), int(args[2]), sys.stdin.buffer))
        elif word == "step":
            rule = loaded[int(args[0])]
            for _ in range(int(args[1])):
                rule.step()
            cpu, wall = time.process_time_ns(), time.perf_counter_ns()
            rule.step()
            out.write(b"%d %d\n" % (time.process_time_ns() - cpu, time.perf_counter_ns() - wall))
        elif word == "stepped":
            out.write(np.asarray(loaded[int(args[0])].results[args[1]], np.float32).tobytes())
        else:
            sys.exit("bench/jax: unknown request")
        out.flush()


main()
