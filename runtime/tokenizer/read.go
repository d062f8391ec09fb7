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
func Parse(data []byte) (*BPE, error) {
	root, err := parse(data)
	if err != nil {
		return nil, err
	}
	o, err := root.object("version", "truncation", "padding", "added_tokens", "normalizer", "pre_tokenizer", "post_processor", "decoder", "model")
	if err != nil {
		return nil, err
	}
	s := reading{ids: map[string]int32{}}
	for _, f := range []struct {
		key  string
		read func(node) error
	}{
		{"version", func(n node) error { return n.only(`want "1.0"`, "1.0") }},
		{"truncation", refuse}, {"padding", refuse},
		{"normalizer", s.readNormal},
		{"pre_tokenizer", s.readSplit},
		{"post_processor", s.readPost},
		{"decoder", readDecoder},
		{"model", s.readModel},
		{"added_tokens", s.readAdded}, // after the vocabulary
	} {
		if err := f.read(o.values[f.key]); err != nil {
			return nil, err
		}
	}
	return New(s.Spec)
}

// A reading is a Spec while it is read.
type reading struct {
	Spec
	ids map[string]int32 // by the keys of the vocabulary
}

func refuse(n node) error { return n.only("only null is", nil) }

// typed wants an object of a type.
func (n node) typed(name string, keys ...string) (object, error) {
	o, ok := n.value.(object)
	if !ok {
		return o, n.fail("%v is not understood: want an object of type %q", n, name)
	}
	if t := o.values["type"]; t.value != any(name) {
		return o, n.fail("%v is not understood: want the type %q", n, name)
	}
	return n.object(append(keys, "type")...)
}

// byteLevel reads a ByteLevel of any of its three uses.
func (n node) byteLevel() (prefix, regex bool, err error) {
	o, err := n.typed("ByteLevel", "add_prefix_space", "trim_offsets", "use_regex")
	if err != nil {
		return false, false, err
	}
	if _, err := o.values["trim_offsets"].truth(true); err != nil {
		return false, false, err
	}
	if prefix, err = o.values["add_prefix_space"].truth(true); err != nil {
		return false, false, err
	}
	regex, err = o.values["use_regex"].truth(true)
	return prefix, regex, err
}

func (s *reading) readNormal(n node) error {
	if n.value == nil {
		return nil
	}
	_, err := n.typed("NFC")
	s.NFC = err == nil
	return err
}

func readDecoder(n node) error {
	_, _, err := n.byteLevel()
	return err
}

func (s *reading) readSplit(n node) error {
	if o, ok := n.value.(object); !ok || o.values["type"].value != any("Sequence") {
		prefix, regex, err := n.byteLevel()
		if s.Split, s.PrefixSpace = Uncut, prefix; regex {
			s.Split = GPT2
		}
		return err
	}
	o, err := n.typed("Sequence", "pretokenizers")
	if err != nil {
		return err
	}
	list, err := o.values["pretokenizers"].list()
	if err != nil {
		return err
	}
	if len(list) != 2 {
		return o.values["pretokenizers"].fail("%d steps, want a Split and a ByteLevel", len(list))
	}
	if s.Split, err = readPattern(list[0]); err != nil {
		return err
	}
	prefix, regex, err := list[1].byteLevel()
	if err == nil && (prefix || regex) {
		err = list[1].fail("add_prefix_space or use_regex after a Split is not supported: want both false")
	}
	return err
}

// readPattern reads a Split. Its pieces are the matches; every known expression
// matches all of a text, so keeping the matches and removing what is between
// them come to the same.
func readPattern(n node) (Split, error) {
	o, err := n.typed("Split", "pattern", "behavior", "invert")
	if err != nil {
		return 0, err
	}
	invert, err := o.values["invert"].truth(false)
	if err != nil {
		return 0, err
	}
	want := "Isolated"
	if invert {
		want = "Removed"
	}
	if err := o.values["behavior"].only(fmt.Sprintf("want %q with invert %v", want, invert), want); err != nil {
		return 0, err
	}
	pattern, err := o.values["pattern"].object("Regex")
	if err != nil {
		return 0, err
	}
	regex := pattern.values["Regex"]
	text, err := regex.text()
	if err != nil {
		return 0, err
	}
	split, ok := splits[text]
	if !ok {
		return 0, regex.fail("the expression %q is not one of the %d that are understood (GPT-2, cl100k, cl100k with single digits, o200k)", text, len(splits))
	}
	return split, nil
}
