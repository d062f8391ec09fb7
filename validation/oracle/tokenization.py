"""Writes the vectors that runtime/tokenizer is held to, with the programs whose
files it reads: Hugging Face's tokenizers and, for the expressions, tiktoken.

    python3 -m venv VENV && VENV/bin/pip install -r tokenization.txt
    VENV/bin/python tokenization.py            # rewrite runtime/tokenizer/testdata
    VENV/bin/python tokenization.py --check    # write nothing, compare

Nothing is downloaded: a small vocabulary is trained on the texts below, uncut,
so that its tokens reach across every place where some family cuts, and for
every family of expressions a tokenizer.json of it is written, with added
tokens. A vector is a text, the lengths in bytes of the pieces that it is cut
into when it has no added tokens, and its ids. Texts are the awkward ones of the
list and random ones from awkward characters. Every text is also encoded by
tiktoken with the same expression and the same tokens, and the two have to agree
before anything is written. merges.json is what the library's own trainer makes
of a longer text, with GPT-2's expression. The last ids of a text cut at
every place, so that characters are cut too, give vectors for decoding.

Characters are of Unicode 15.0 or older, which is what package unicode of Go
knows; newer ones would fall into other classes there.
"""

import json
import pathlib
import random
import sys

import tiktoken
import tokenizers
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

HERE = pathlib.Path(__file__).parent
OUT = HERE.parent.parent / "runtime" / "tokenizer" / "testdata"
TEXT = HERE.parent.parent / "command" / "text" / "crossroads.txt"
MERGES = 300

CONTRACTIONS = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)"
GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
CL100K = CONTRACTIONS + r"|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
DIGITS = CL100K.replace(r"\p{N}{1,3}", r"\p{N}")
U, V = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]", r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"
O200K = "|".join([
    r"[^\r\n\p{L}\p{N}]?" + U + "*" + V + "+" + CONTRACTIONS + "?",
    r"[^\r\n\p{L}\p{N}]?" + U + "+" + V + "*" + CONTRACTIONS + "?",
    r"\p{N}{1,3}", r" ?[^\s\p{L}\p{N}]+[\r\n/]*", r"\s*[\r\n]+", r"\s+(?!\S)", r"\s+",
])


def split(pattern, behavior="isolated", invert=False):
    return pre_tokenizers.Sequence([
        pre_tokenizers.Split(Regex(pattern), behavior, invert),
        pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
    ])


# name: pre-tokenizer, ignore_merges, expression for tiktoken
FAMILIES = {
    "gpt2": (pre_tokenizers.ByteLevel(add_prefix_space=False), False, GPT2),
    "gpt2_prefix": (pre_tokenizers.ByteLevel(add_prefix_space=True), False, None),
    "gpt2_split": (split(GPT2), False, GPT2),
    "uncut": (pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False), False, None),
    "cl100k": (split(CL100K, "removed", True), False, CL100K),
    "digits": (split(DIGITS), False, DIGITS),
    "o200k": (split(O200K), True, O200K),
    "normal": (split(DIGITS), False, None),  # in the form NFC, with tokens around a text
}
NORMAL = "normal"
NOT_NORMAL = ["\u212b \u1e9b\u0323 \u1112\u1161\u11ab \u0958 a\u0328\u0301 \u2126 \ufb01", "e\u0301<tool>e\u0301<tools>\u0301"]

AWKWARD = [
    "", " ", "  ", "a", " a", "  a", "a ", "a  ", "a  b", "\n", "\n\n", " \n", "\n ", " \n ", "  \n\n  x", "a\r\nb\r\n", "\r", "a\rb",
    "\t", "\ta", "a\tb", "\t\tif x:\n\t\t\treturn", "a \t b", "x\n   y\n\n\n  z  \n",
    "I'm you're we've she'll he'd it's don't", "I'M YOU'RE WE'VE SHE'LL HE'D IT'S DON'T", "'s", "''s", "' s", "x's's", "'S'T'RE", "'r e", "'l", "'v", "o'clock",
    "it'\u017f", "don\u2019t", "'\u017f\u017f", "HE'Ll", "We'Re", "CamelCaseWords HTTPServer iPhone XMLHttp\u0301Request", "ABCdefGHI", "aB", "Ab", "AB", "\u01c5abc", "\u02b0a\u02b0A",
    "1", "12", "123", "1234", "12345678901234567890", "3.14159", "1,000,000", "\u00bd\u00be", "\u0661\u0662\u0663\u0664", "\u216b\u2160", "x\u00b2", "\u96f6\u4e00", "a1b2", " 42", "  42",
    "...", "!!! ???", " ...", "a.b", "x=y+z", "/usr/local/bin/", "https://example.org/a/b?c=d&e=f#g\n/\r\n//", "\u2014 dash", "#!/bin/sh\n", "(\n)\n\n", "\u00ab\u00a0bonjour\u00a0\u00bb",
    "na\u00efve caf\u00e9 r\u00e9sum\u00e9", "e\u0301a\u0300", "\u0301", " \u0301", "\u0301a", "a\u0301", "A\u0301b", " A\u0301\u0301B", "\u00df\u1e9e", "\u0130\u0131", "\u01c4\u01c5\u01c6",
    "\u041f\u0440\u0438\u0432\u0435\u0442 \u043c\u0438\u0440", "\u0393\u03b5\u03b9\u03ac", "\u05e9\u05dc\u05d5\u05dd", "\u0645\u0631\u062d\u0628\u0627", "\u0928\u092e\u0938\u094d\u0924\u0947", "\u4f60\u597d\uff0c\u4e16\u754c", "\u3053\u3093\u306b\u3061\u306f", "\ud55c\uad6d\uc5b4", "\u0e2a\u0e27\u0e31\u0e2a\u0e14\u0e35", "\U00010400\U00010428",
    "\U0001f600", "a\U0001f600b", " \U0001f600 ", "\U0001f468\u200d\U0001f469\u200d\U0001f467\u200d\U0001f466", "\U0001f1e9\U0001f1ea", "\u2764\ufe0f", "\U0001f44d\U0001f3fd's",
    "\u00a0", "a\u00a0b", "\u2003\u2003x", "\u2028x\u2029", "\u3000\u3000\u4f60", "\u0085x", "\u200bx", "\u180ex", "\x1c\x1d", "\x00\x01\x7f", "\ufeffx", "\ufffd", "\ufffdx\ufffd", "\U0010ffff", "\ue000a",
    "The keeper of the crossroads.", "<|endoftext|>", "a<|endoftext|>b", "<|end<|endoftext|>", "<|endoftext|><|endoftext|>", " <|endoftext|> ", "<|endoftext", "<tool>x</tool>", "<tool>s", "<toolbox>", "<|tool|>'s",
    "aaaaaaaaaaaaaaaaaaaaaaaa", "thethethethe", "x" * 50, " " * 50, "\n" * 20, "-" * 30, "ab" * 40,
]
PIECES = ["a", "b", "th", "e", "E", "T", " ", "  ", "\t", "\n", "\r\n", "\r", "'", "'s", "'LL", "1", "23", "\u0661", ".", "/", "\u00e9", "\u00c9", "\u0301", "\u02b0", "\u01c5", "\u4e16",
          "\U0001f600", "\u200d", "\u00a0", "\u2003", "\u017f", "<|endoftext|>", "<tool>", "<tools>", "the ", " the"]


def texts():
    r = random.Random(5)
    return AWKWARD + ["".join(r.choice(PIECES) for _ in range(r.randint(2, 14))) for _ in range(220)]


def trained(pre, corpus):
    """The trainer's vocabulary and merges."""
    t = Tokenizer(models.BPE())
    t.pre_tokenizer = pre
    trainer = trainers.BpeTrainer(vocab_size=256 + MERGES, initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()), show_progress=False)
    t.train_from_iterator(corpus, trainer)
    model = json.loads(t.to_str())["model"]
    return model["vocab"], [tuple(m) for m in model["merges"]]


def build(name, vocab, merges, pre, ignore):
    vocab = dict(vocab)
    if ignore:  # a whole piece that no merges lead to
        vocab["\u0120zzyzx"] = len(vocab)
    t = Tokenizer(models.BPE(vocab=vocab, merges=merges, ignore_merges=ignore))
    t.pre_tokenizer = pre
    t.decoder = decoders.ByteLevel()
    t.add_special_tokens(["<|endoftext|>"])
    if name == NORMAL:
        t.normalizer = normalizers.NFC()
        t.add_special_tokens(["<s>", "</s>"])
        around = processors.TemplateProcessing(single="<s> $A </s>", pair="<s> $A <s> $B </s>",
                                               special_tokens=[(s, t.token_to_id(s)) for s in ("<s>", "</s>")])
        t.post_processor = processors.Sequence([processors.ByteLevel(trim_offsets=False), around])
    t.add_tokens([AddedToken("<tool>", normalized=False), AddedToken("<tools>", normalized=True), "e<|", AddedToken("</tool> \u4f60", normalized=True)])
    return t


def unspell():
    """byte of every character of the alphabet"""
    keep = list(range(33, 127)) + list(range(161, 173)) + list(range(174, 256))
    table = {chr(b): b for b in keep}
    for b in range(256):
        if b not in keep:
            table[chr(256 + len(table) - len(keep))] = b
    return table


def check_tiktoken(name, t, vocab, pattern):
    table = unspell()
    ranks = {bytes(table[c] for c in token): i for token, i in vocab.items()}
    other = tiktoken.Encoding(name, pat_str=pattern, mergeable_ranks=ranks, special_tokens={})
    t = Tokenizer.from_str(t.to_str())
    for text in texts():
        if any(a in text for a in ("<|endoftext|>", "<tool", "e<|", "</tool>")):
            continue
        a, b = t.encode(text, add_special_tokens=False).ids, other.encode_ordinary(text)
        if a != b:
            sys.exit(f"{name}: {text!r}: tokenizers {a}, tiktoken {b}")


def vectors():
    files = {}
    vocab, merges = trained(pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False), texts())
    for name, (pre, ignore, pattern) in FAMILIES.items():
        t = build(name, vocab, merges, pre, ignore)
        if pattern:
            check_tiktoken(name, t, vocab, pattern)
        cases = []
        for text in texts() + [" zzyzx zzyzx"] + (NOT_NORMAL if name == NORMAL else []):
            normal = t.normalizer.normalize_str(text) if t.normalizer else text
            pieces = [len(p) for p, _ in t.pre_tokenizer.pre_tokenize_str(normal)]  # a character stands for a byte
            case = {"text": text, "pieces": pieces, "ids": t.encode(text, add_special_tokens=False).ids}
            if name == NORMAL:
                case["framed"] = t.encode(text).ids
            cases.append(case)
        parts = []
        for text in ["na\u00efve \U0001f600\U0001f468\u200d", "<|endoftext|>\u4f60\u597d", "x\u0301 \u2764\ufe0f"]:
            ids = t.encode(text, add_special_tokens=False).ids
            for lo in range(len(ids)):
                for hi in range(lo + 1, len(ids) + 1):
                    cut = ids[lo:hi]
                    parts.append({"ids": cut, "text": t.decode(cut, skip_special_tokens=False), "plain": t.decode(cut, skip_special_tokens=True)})
        files[name + ".json"] = t.to_str(pretty=False)
        if name != "gpt2_split":  # has those of gpt2
            files[name + ".vectors.json"] = lines(cases, parts)
    _, merges = trained(pre_tokenizers.ByteLevel(add_prefix_space=False), [TEXT.read_text("utf-8")])
    files["merges.json"] = json.dumps({"merges": [" ".join(m) for m in merges]}, indent=0) + "\n"
    return files


def lines(cases, parts):
    """One vector a line, in ASCII."""
    rows = lambda list: ",\n".join(json.dumps(x) for x in list)
    return '{"encode": [\n' + rows(cases) + '\n],\n"decode": [\n' + rows(parts) + "\n]}\n"


def main():
    print("tokenizers", tokenizers.__version__)
    files = vectors()
    stale = [n for n, data in files.items() if not (OUT / n).exists() or (OUT / n).read_text("utf-8") != data]
    if "--check" in sys.argv[1:]:
        sys.exit(f"stale: {stale}" if stale else 0)
    OUT.mkdir(parents=True, exist_ok=True)
    for name in stale:
        (OUT / name).write_text(files[name], "utf-8", newline="\n")
    print("wrote", stale)


main()
