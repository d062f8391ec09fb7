"""The pseudo-random streams that the Go side shares: one per name and seed.

state  = FNV-1a-64(name, utf-8) XOR (seed * 0x9E3779B97F4A7C15 mod 2^64)
next() = splitmix64
uniform(lo, hi) = lo + (hi - lo) * ((next() >> 11) * 2^-53), in float64, each
operation rounded on its own, entries of a tensor in row-major order.
"""

import numpy as np

MASK = (1 << 64) - 1
GOLDEN = 0x9E3779B97F4A7C15


def fnv1a64(data):
    h = 0xCBF29CE484222325
    for byte in data:
        h = ((h ^ byte) * 0x100000001B3) & MASK
    return h


class Stream:
    def __init__(self, name, seed):
        self.state = fnv1a64(name.encode()) ^ ((seed * GOLDEN) & MASK)

    def next(self):
        self.state = (self.state + GOLDEN) & MASK
        z = self.state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
        return z ^ (z >> 31)

    def uniform(self, lo, hi):
        return lo + (hi - lo) * ((self.next() >> 11) * 2.0**-53)


def uniform(name, seed, shape, lo, hi):
    """A tensor from a stream of its own."""
    s = Stream(name, seed)
    n = int(np.prod(shape, dtype=np.int64))
    return np.array([s.uniform(lo, hi) for _ in range(n)], np.float64).reshape(shape)


def integers(name, seed, shape, below):
    """Integers 0 <= i < below: next() mod below."""
    s = Stream(name, seed)
    n = int(np.prod(shape, dtype=np.int64))
    return np.array([s.next() % below for _ in range(n)], np.int64).reshape(shape)


def vectors(File):
    f = File(
        "The named streams of validation/oracle/streams.py. NAME.SEED.bits holds the first",
        "eight values of next() >> 11, NAME.SEED.uniform the first eight of",
        "uniform(-1/sqrt(8), 1/sqrt(8)), each from a fresh stream.",
    )
    bound = 1 / np.sqrt(8.0)
    for name, seed in [("E", 0), ("E", 1), ("memory.w_rho", 1), ("memory.w_ρ", 1), ("", 7), ("H", 2**63 + 5)]:
        key = f"{name or 'empty'}.{seed}"
        s = Stream(name, seed)
        f.add(key + ".bits", np.array([s.next() >> 11 for _ in range(8)], np.int64))
        f.add(key + ".uniform", uniform(name, seed, (8,), -bound, bound))
    return f
