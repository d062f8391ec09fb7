#!/usr/bin/env python3
"""Builds byte models with PyTorch on the CPU, on request, as ../../experiments
builds the project's own: the same text, order of bytes, batch, chunk, window and number of updates.

    baseline.py TEXT THREADS

Requests are lines of JSON on standard input, with the fields of request() below; each is answered by a line of JSON with
parameters, the marks [[updates, bits per byte held out], …] and tokens per second of the updates.

Order of bytes: the first nine tenths of the text are cut into as many ranges as the batch has; each
is read chunk by chunk, what is carried goes from chunk to chunk, and a range begins again after
its end, with nothing carried. Held out is the last tenth, in eight ranges that begin with nothing
carried; every byte of it is predicted once.

AdamW with decay on matrices, a linear warm-up of a twentieth and a cosine to a tenth of the rate,
and a gradient of norm 1 at most.
"""

import json
import math
import sys
import time

sys.dont_write_bytecode = True
import torch
import torch.nn.functional as F

import models

BETAS, DECAY, CLIP, LAST = (0.9, 0.99), 0.1, 1.0, 0.1
IGNORED = -100


def ranges(lo, hi, n, exact):
    """n ranges of [lo, hi): of lengths each or each + 1, the longer first, or with bounds rounded down."""
    size = hi - lo
    if exact:
        at = [lo + i * (size // n) + min(i, size % n) for i in range(n + 1)]
    else:
        at = [lo + i * size // n for i in range(n + 1)]
    return list(zip(at, at[1:]))


class Stream:
    """The chunks that are built on."""

    def __init__(self, text, batch, chunk):
        self.text, self.chunk = text, chunk
        lo, hi = torch.tensor(ranges(0, len(text) * 9 // 10, batch, True)).T
        self.lo, self.size, self.read = lo[:, None], (hi - lo)[:, None], 0

    def next(self):
        at = self.read + torch.arange(self.chunk)
        self.read += self.chunk
        place, times = at % self.size, at // self.size
        targets = self.text[(self.lo + place + 1).clamp(max=len(self.text) - 1)]
        return self.text[self.lo + place], targets.masked_fill(place == self.size - 1, IGNORED), times


@torch.no_grad()
def held_out(model, text, chunk):
    """Bits per byte of the last tenth."""
    parts = ranges(len(text) * 9 // 10, len(text), 8, False)
    longest = max(hi - lo for lo, hi in parts)
    context, nats, n = model.start(len(parts)), 0.0, 0
    for at in range(0, longest, chunk):
        places = torch.tensor([lo for lo, _ in parts])[:, None] + at + torch.arange(min(chunk, longest - at))
        past = places >= torch.tensor([hi for _, hi in parts])[:, None]
        targets = text[places.clamp(max=len(text) - 1)].masked_fill(past, IGNORED)
        logits, context = model(text[places - 1], torch.zeros_like(places), context)
        nats += F.cross_entropy(logits.flatten(0, 1), targets.flatten(), ignore_index=IGNORED, reduction="sum").item()
        n += (~past).sum().item()
    assert n == parts[-1][1] - parts[0][0]
    return nats / n / math.log(2)


def request(text, model, layers, width, heads, hidden, tied, window, chunk, batch, steps, marks, rate, seed):
    torch.manual_seed(seed)
    net = models.ByteModel(model, layers, width, heads, hidden, tied, window, chunk)
    matrices = [p for p in net.parameters() if p.ndim > 1]
    others = [p for p in net.parameters() if p.ndim < 2]
    update = torch.optim.AdamW([{"params": matrices, "weight_decay": DECAY}, {"params": others, "weight_decay": 0.0}],
                               lr=rate, betas=BETAS, fused=True)
    warm = max(steps // 20, 1)
    stream, context, seconds, found = Stream(text, batch, chunk), net.start(batch), 0.0, []
    for n in range(1, steps + 1):
        began = time.perf_counter()
        for g in update.param_groups:
            done = (n - warm) / max(steps - warm, 1)
            g["lr"] = rate * (n / warm if n <= warm else LAST + (1 - LAST) * 0.5 * (1 + math.cos(math.pi * done)))
        ids, targets, times = stream.next()
        logits, context = net(ids, times, context)
        loss = F.cross_entropy(logits.flatten(0, 1), targets.flatten(), ignore_index=IGNORED)
        update.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(net.parameters(), CLIP)
        update.step()
        seconds += time.perf_counter() - began
        if n in marks:
            found.append([n, held_out(net, text, chunk)])
    return {"parameters": sum(p.numel() for p in net.parameters()), "marks": found,
            "tokens_per_second": steps * batch * chunk / seconds}


def main():
    torch.set_num_threads(int(sys.argv[2]))
    with open(sys.argv[1], "rb") as f:
        text = torch.frombuffer(bytearray(f.read()), dtype=torch.uint8).long()
    for line in sys.stdin:
        try:
            answer = request(text, **json.loads(line))
        except ImportError as e:
            answer = {"error": f"{e.name} is missing, see requirements.txt"}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
