"""Vector files: named tensors of exact numbers, as package internal/vectors of
the Go side reads them (its doc.go defines the format)."""

import math

import numpy as np

PER_LINE = 6


def hexfloat(x):
    """float.hex without the zeros that end its mantissa."""
    x = float(x)
    if math.isnan(x):
        return "nan"
    if math.isinf(x):
        return "inf" if x > 0 else "-inf"
    mantissa, exponent = x.hex().split("p")
    if "." in mantissa:
        mantissa = mantissa.rstrip("0").rstrip(".")
        if mantissa.endswith("x"):  # "0x" of "0x0.0": the rstrip took the leading zero too
            mantissa += "0"
    return f"{mantissa}p{exponent}"


class File:
    """An ordered set of tensors; add them, then write or compare the file."""

    def __init__(self, *comment):
        self.comment = comment
        self.tensors = {}  # name -> (kind, numpy array, comment)

    def add(self, name, value, comment=None):
        array = np.asarray(value)
        if array.dtype == np.float64:
            kind = "f64"
        elif array.dtype == np.float32:
            kind = "f32"
        elif np.issubdtype(array.dtype, np.integer):
            kind = "int"
        else:
            raise TypeError(f"{name}: {array.dtype}")
        if name in self.tensors:
            raise ValueError(f"{name} is there already")
        self.tensors[name] = (kind, array, comment)

    def add_all(self, prefix, values):
        for name, value in values.items():
            self.add(prefix + name, value)

    def text(self):
        lines = ["# " + c for c in self.comment]
        for name, (kind, array, comment) in self.tensors.items():
            if comment:
                lines.append("# " + comment)
            lines.append(f"tensor {name} {kind} [{' '.join(map(str, array.shape))}]")
            show = str if kind == "int" else hexfloat
            words = [show(x) for x in array.ravel().tolist()]
            for i in range(0, len(words), PER_LINE):
                lines.append(" ".join(words[i : i + PER_LINE]))
        return "\n".join(lines) + "\n"


def parse(text):
    """name -> numpy array, of a file written by text()."""
    out, name, kind, shape, words = {}, None, None, None, []

    def close():
        if name is not None:
            dtype = {"f64": np.float64, "f32": np.float32, "int": np.int64}[kind]
            convert = int if kind == "int" else float.fromhex
            out[name] = np.array([convert(w) for w in words], dtype).reshape(shape)

    for line in text.splitlines():
        if line.startswith("#"):
            continue
        if line.startswith("tensor "):
            close()
            head, extents = line.rstrip("]").split("[")
            _, name, kind = head.split()
            shape, words = tuple(map(int, extents.split())), []
        else:
            words += line.split()
    close()
    return out
