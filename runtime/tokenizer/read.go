package tokenizer

import (
	"fmt"
	"os"
)

// What of a tokenizer.json is understood is exactly this:
//
//	version         "1.0"
//	truncation, padding   null
//	normalizer      null or NFC
//	added_tokens    id, content, special, normalized; the rest false
//	pre_tokenizer   ByteLevel, with or without use_regex; or a Sequence of a
//	                Split by one of the known expressions, whose pieces stay
//	                apart, and a ByteLevel without use_regex
//	post_processor  null; ByteLevel, which changes offsets and no ids; a
//	                TemplateProcessing, whose template of one text puts special
//	                tokens before it and after it; or a Sequence of these
//	decoder         ByteLevel
//	model           BPE without dropout, unknown token, prefix, suffix and byte
//	                fallback; merges as strings or as pairs
//
// Everything else is refused with its place in the file, because each of it
// would produce other ids than the reference implementation. Keys that are absent are null.

// splits are the expressions that a Split may have.
var splits = map[string]Split{
	`'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+`: GPT2,

	`(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`: CL100K,

	`(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`: Digits,

	`[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?` +
		`|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?` +
		`|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+`: O200K,
}

// Open reads a tokenizer.json. The error is the file system's, a *JSONError,
// or says what does not fit together.
func Open(path string) (*BPE, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("open tokenizer: %w", err)
	}
	b, err := Parse(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return b, nil
}

// Parse is Open for the text of a tokenizer.json.
func Parse(data []byte) (_ *BPE, err error) {
	defer recovered(&err)
	v := parse(data).object("version", "truncation", "padding", "added_tokens", "normalizer", "pre_tokenizer", "post_processor", "decoder", "model")
	s := reading{ids: map[string]int32{}}
	v["version"].only(`want "1.0"`, "1.0")
	v["truncation"].only("only null is", nil)
	v["padding"].only("only null is", nil)
	s.readNormal(v["normalizer"])
	s.readSplit(v["pre_tokenizer"])
	s.readPost(v["post_processor"])
	v["decoder"].byteLevel()
	s.readModel(v["model"])
	s.readAdded(v["added_tokens"]) // after the vocabulary
	return New(s.Spec)
}

// A reading is a Spec while it is read.
type reading struct {
	Spec
	ids map[string]int32 // by the keys of the vocabulary
}

// isType reports whether a value is an object of a type.
func (n node) isType(name string) bool {
	o, ok := n.value.(object)
	return ok && o.values["type"].value == any(name)
}

// typed wants an object of a type.
func (n node) typed(name string, keys ...string) map[string]node {
	if _, ok := n.value.(object); !ok {
		panic(n.fail("%v is not understood: want an object of type %q", n, name))
	}
	if !n.isType(name) {
		panic(n.fail("%v is not understood: want the type %q", n, name))
	}
	return n.object(append(keys, "type")...)
}

// byteLevel reads a ByteLevel of any of its three uses.
func (n node) byteLevel() (prefix, regex bool) {
	v := n.typed("ByteLevel", "add_prefix_space", "trim_offsets", "use_regex")
	v["trim_offsets"].truth(true)
	return v["add_prefix_space"].truth(true), v["use_regex"].truth(true)
}

func (s *reading) readNormal(n node) {
	if n.value != nil {
		n.typed("NFC")
		s.NFC = true
	}
}

func (s *reading) readSplit(n node) {
	if !n.isType("Sequence") {
		prefix, regex := n.byteLevel()
		if s.Split, s.PrefixSpace = Uncut, prefix; regex {
			s.Split = GPT2
		}
		return
	}
	steps := n.typed("Sequence", "pretokenizers")["pretokenizers"]
	list := steps.list()
	if len(list) != 2 {
		panic(steps.fail("%d steps, want a Split and a ByteLevel", len(list)))
	}
	s.Split = readPattern(list[0])
	if prefix, regex := list[1].byteLevel(); prefix || regex {
		panic(list[1].fail("add_prefix_space or use_regex after a Split is not supported: want both false"))
	}
}

// readPattern reads a Split. Its pieces are the matches; every known expression
// matches all of a text, so keeping the matches and removing what is between
// them come to the same.
func readPattern(n node) Split {
	v := n.typed("Split", "pattern", "behavior", "invert")
	invert, want := v["invert"].truth(false), "Isolated"
	if invert {
		want = "Removed"
	}
	v["behavior"].only(fmt.Sprintf("want %q with invert %v", want, invert), want)
	regex := v["pattern"].object("Regex")["Regex"]
	split, ok := splits[regex.text()]
	if !ok {
		panic(regex.fail("the expression %q is not one of the %d that are understood (GPT-2, cl100k, cl100k with single digits, o200k)", regex.text(), len(splits)))
	}
	return split
}
