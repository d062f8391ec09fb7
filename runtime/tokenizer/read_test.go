package tokenizer

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// template is a post-processor of a template of one text.
func template(single, specials string) string {
	return `"post_processor": {"type": "Sequence", "processors": [{"type": "TemplateProcessing", "single": [` + single + `], "pair": [], "special_tokens": {` + specials + `}}]}`
}

// TestRefusals changes one thing in a good file; the error names its place.
func TestRefusals(t *testing.T) {
	good := string(load(t, "cl100k").JSON())
	for _, c := range []struct{ old, new, want string }{
		{`"version": "1.0"`, `"version": "2.0"`, `$.version: "2.0"`},
		{`"truncation": null`, `"truncation": {"max_length": 5}`, `$.truncation: an object`},
		{`"padding": null`, `"padding": {}`, `$.padding: an object`},
		{`"normalizer": null`, `"normalizer": {"type": "NFKC"}`, `$.normalizer: an object of type "NFKC"`},
		{`"post_processor": null`, `"post_processor": {"type": "BertProcessing"}`, `$.post_processor: an object of type "BertProcessing"`},
		{`"post_processor": null`, `"post_processor": {"type": "TemplateProcessing"}`, `$.post_processor.single: null, want a list`},
		{`"post_processor": null`, template(``, ``), `$.post_processor.processors[0].single: the text is 0 times in the template, want once`},
		{`"post_processor": null`, template(`{"Sequence": {"id": "B", "type_id": 0}}`, ``), `$.post_processor.processors[0].single[0].Sequence.id: "B" is not understood: want "A"`},
		{`"post_processor": null`, template(`{"SpecialToken": {"id": "<s>", "type_id": 0}}`, ``), `$.post_processor.processors[0].single[0].SpecialToken.id: "<s>" is not one of the special_tokens`},
		{`"post_processor": null`, template(`{"SpecialToken": {"id": "<s>", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}`, `"<s>": {"id": "<s>", "ids": [65], "tokens": ["<s>"]}`), `id 65 frames a document and is not a special token`},
		{`"decoder": {`, `"decoder": null, "extra": {`, `$.extra: the key`},
		{`"type": "Sequence"`, `"type": "Whitespace"`, `$.pre_tokenizer: an object of type "Whitespace"`},
		{`"type": "Split"`, `"type": "Digits"`, `$.pre_tokenizer.pretokenizers[0]: an object of type "Digits"`},
		{`(?i:'s`, `(?i:'z`, `$.pre_tokenizer.pretokenizers[0].pattern.Regex: the expression`},
		{`"Isolated"`, `"MergedWithNext"`, `$.pre_tokenizer.pretokenizers[0].behavior: "MergedWithNext"`},
		{`"invert": false`, `"invert": true`, `$.pre_tokenizer.pretokenizers[0].behavior: "Isolated"`},
		{`"use_regex": false`, `"use_regex": true`, `$.pre_tokenizer.pretokenizers[1]: add_prefix_space or use_regex`},
		{`"add_prefix_space": false`, `"add_prefix_space": true`, `$.pre_tokenizer.pretokenizers[1]: add_prefix_space or use_regex`},
		{`"type": "BPE"`, `"type": "Unigram"`, `$.model: an object of type "Unigram"`},
		{`"dropout": null`, `"dropout": 0.1`, `$.model.dropout: 0.1`},
		{`"unk_token": null`, `"unk_token": "a"`, `$.model.unk_token: "a"`},
		{`"end_of_word_suffix": null`, `"end_of_word_suffix": "</w>"`, `$.model.end_of_word_suffix: "</w>"`},
		{`"byte_fallback": false`, `"byte_fallback": true`, `$.model.byte_fallback: true`},
		{`"ignore_merges": false`, `"ignore_merges": 1`, `$.model.ignore_merges: 1`},
		{`"lstrip": false`, `"lstrip": true`, `$.added_tokens[0].lstrip: true`},
		{`"special": true`, `"special": "yes"`, `$.added_tokens[0].special: "yes"`},
		{`"id": 557`, `"id": 600`, `$.added_tokens[4].id: "</tool> 你" has the id 600, want 557`},
		{`"id": 557`, `"id": -1`, `$.added_tokens[4].id: -1`},
		{`"content": "<tool>"`, `"content": "é"`, `$.added_tokens[2].id: "é" has the id 302, want 165`},
		{`"content": "<|endoftext|>"`, `"content": "é"`, `$.added_tokens[`},
		{`"content": "</tool> 你"`, `"content": "<tool>"`, `$.added_tokens[4].id: "<tool>" has the id 557, want 302`},
		{`"content": "</tool> 你"`, `"content": ""`, `added token 4: it is empty`},
		{`"a": 64`, `"a": 65`, `$.model.vocab.b: id 65 is taken by "a"`},
		{`"a": 64`, `"a": 64, "a": 64`, `$.model.vocab: the key "a" is there twice`},
		{`"a": 64`, `"a": 64.5`, `$.model.vocab.a: 64.5`},
		{`"a": 64`, `"a": 99999999`, `$.model.vocab.a: 99999999`},
		{`"q": 80`, `"a b": 80`, `$.model.vocab: token 80 is empty or has characters`},
		{`"q": 80`, `"": 80`, `$.model.vocab: token 80 is empty or has characters`},
		{`"q": 80`, `"qĠq": 80`, `byte 0x71 has no token`},
		{`"merges": [`, `"merges": ["a z", `, `merge 0: "a" and "z" make no token`},
		{`"merges": [`, `"merges": ["a", `, `$.model.merges[0]: "a", want two tokens`},
		{`"merges": [`, `"merges": ["a b c", `, `$.model.merges[0]: "a b c", want two tokens`},
		{`"merges": [`, `"merges": [["a", "b", "c"], `, `$.model.merges[0]: a list of 3, want two tokens`},
		{`"merges": [`, `"merges": [["a", 5], `, `$.model.merges[0][1]: 5, want a string`},
		{`"merges": [`, `"merges": ["a 世", `, `$.model.merges[0]: "a" and "世" are not both`},
		{`"merges": [`, `"merges": ["Ġ Ġ", `, `"Ġ" are merged before`},
		{`{`, `[`, `no JSON at byte`},
		{`"a": 64`, "\"\xff\": 64", `$: the file is not UTF-8`},
		{`"a": 64`, `"a": [[[[[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]]]]]`, `nested deeper`},
	} {
		bad := strings.Replace(good, c.old, c.new, 1)
		if bad == good {
			t.Errorf("%q is not in the file", c.old)
			continue
		}
		want := strings.ReplaceAll(c.want, `"Ġ" are`, `" " are`)
		if _, err := Parse([]byte(bad)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s becomes %s: %v, want %q", c.old, c.new, err, want)
		}
	}
	for _, bad := range []string{"", "null", "[]", good + "{}", good[:len(good)/2]} {
		var e *JSONError
		if _, err := Parse([]byte(bad)); !errors.As(err, &e) || e.Path == "" {
			t.Errorf("%.20q…: %v, want a *JSONError", bad, err)
		}
	}
	if _, err := Open(filepath.Join(t.TempDir(), "none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file = %v", err)
	}
}

// TestBadSpecs lists what New and Build refuse.
func TestBadSpecs(t *testing.T) {
	spec := func(change func(s *Spec)) Spec {
		s := load(t, "gpt2").Spec()
		s.Tokens, s.Added = append([][]byte{}, s.Tokens...), append([]Added{}, s.Added...)
		s.Merges = append([]Merge{}, s.Merges...)
		change(&s)
		return s
	}
	last := func(s *Spec) *Added { return &s.Added[len(s.Added)-1] }
	for _, c := range []struct {
		want string
		spec Spec
	}{
		{"split", spec(func(s *Spec) { s.Split = 0 })},
		{"a prefix space", spec(func(s *Spec) { s.Split, s.PrefixSpace = O200K, true })},
		{"no token has the id 7", spec(func(s *Spec) { s.Tokens[7] = nil })},
		{"is empty or also token", spec(func(s *Spec) { s.Tokens[300] = []byte("a") })},
		{"byte 0x61 has no token", spec(func(s *Spec) { s.Tokens[64] = []byte("qqq") })},
		{"are not both tokens", spec(func(s *Spec) { s.Merges[0].Left = 1 << 20 })},
		{"make no token", spec(func(s *Spec) { s.Merges[0] = Merge{0, 1} })},
		{"are merged before", spec(func(s *Spec) { s.Merges[1] = s.Merges[0] })},
		{"is taken or not below", spec(func(s *Spec) { last(s).ID = 1 << 20 })},
		{"is the token", spec(func(s *Spec) { last(s).ID = 64 })},
		{"is spelled like token 64", spec(func(s *Spec) { last(s).Content = "a" })},
		{"is spelled like the bytes", spec(func(s *Spec) {
			s.Tokens = append(s.Tokens, []byte("zq"))
			last(s).Content = "éé"
		})},
	} {
		if _, err := New(c.spec); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("New = %v, want %q", err, c.want)
		}
	}
	for _, opt := range []Options{{Vocab: 255, Split: GPT2}, {Vocab: 300, Split: Uncut}, {Vocab: 300}, {Vocab: 300, Split: GPT2, Specials: []string{"a"}}} {
		if _, err := Build(opt, []byte("text")); err == nil {
			t.Errorf("Build takes %+v", opt)
		}
	}
}

// TestBuildIsDeterministic wants the same tokenizer for the texts in any order,
// no rare merges, and every text to come back.
func TestBuildIsDeterministic(t *testing.T) {
	x, y := []byte("the cat sat on the mat; the cat's hat\n"), []byte("a rat ate the hat that sat\n\n")
	opt := Options{Vocab: 400, Split: CL100K, MinCount: 2, Specials: []string{"<|end|>"}}
	a, err := Build(opt, x, y)
	if err != nil {
		t.Fatal(err)
	}
	b, err := Build(opt, y, x)
	if err != nil || a.Digest() != b.Digest() {
		t.Errorf("the order of the texts matters, %v", err)
	}
	rarer, err := Build(Options{Vocab: 400, Split: CL100K}, x, y)
	if err != nil || rarer.Vocab() <= a.Vocab()-1 || a.Vocab() >= 400 {
		t.Errorf("%d tokens with pairs that occur twice, %d with all, %v", a.Vocab(), rarer.Vocab(), err)
	}
	roundTrip(t, a, append(x, y...))
	if empty, err := Build(opt); err != nil || empty.Vocab() != 257 {
		t.Errorf("Build of nothing = %v", err)
	}
	if again, err := Parse(a.JSON()); err != nil || again.Digest() != a.Digest() {
		t.Errorf("what was built is not read back, %v", err)
	}
}

// TestBuildCounts holds the incremental counts to counting again each time.
func TestBuildCounts(t *testing.T) {
	text := []byte(strings.Repeat("aaaa aaab abab aabaa banana bandana ", 3) + "aaaaaaa")
	b, err := Build(Options{Vocab: 280, Split: GPT2}, text)
	if err != nil {
		t.Fatal(err)
	}
	var words [][]int32
	for rest := text; len(rest) > 0; {
		n := GPT2.next(rest)
		var w []int32
		for _, x := range rest[:n] {
			w = append(w, b.bytes[x])
		}
		words, rest = append(words, w), rest[n:]
	}
	for step, m := range b.spec.Merges {
		counts := map[Merge]int{}
		for _, w := range words {
			for i := range len(w) - 1 {
				counts[Merge{w[i], w[i+1]}]++
			}
		}
		for p, n := range counts {
			if n > counts[m] || n == counts[m] && compare(p, m) < 0 {
				t.Fatalf("merge %d is %v with count %d, want %v with %d", step, m, counts[m], p, n)
			}
		}
		for i := range words {
			words[i] = join(words[i], m, b.merges[m].id)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, split := range []Split{GPT2, CL100K, O200K} {
		b, err := Build(Options{Vocab: 260, Split: split, Specials: []string{"<|endoftext|>"}}, []byte("the theory"))
		if err != nil {
			f.Fatal(err)
		}
		var small bytes.Buffer
		if err := json.Compact(&small, b.JSON()); err != nil {
			f.Fatal(err)
		}
		f.Add(small.Bytes())
	}
	f.Add([]byte(`{"version":"1.0","model":{"type":"BPE","vocab":{"a":0},"merges":["a a"]}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		b, err := Parse(data)
		if err != nil {
			return
		}
		again, err := Parse(b.JSON())
		if err != nil || !bytes.Equal(again.JSON(), b.JSON()) {
			t.Fatalf("what was read is written otherwise: %v", err)
		}
		text := []byte("the keeper's \xff 123 <|endoftext|>")
		if !b.spec.PrefixSpace {
			roundTrip(t, b, text)
		}
	})
}
