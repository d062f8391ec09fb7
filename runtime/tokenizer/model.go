package tokenizer

import (
	"fmt"
	"strings"
)

// readModel reads the vocabulary and the merges, and refuses what would make
// other ids of them.
func (s *reading) readModel(n node) {
	v := n.typed("BPE", "dropout", "unk_token", "continuing_subword_prefix", "end_of_word_suffix",
		"fuse_unk", "byte_fallback", "ignore_merges", "vocab", "merges")
	v["dropout"].only("only null is; ids would be drawn at random", nil)
	v["unk_token"].only("only null is; bytes are never unknown", nil)
	v["continuing_subword_prefix"].only("only null is", nil, "")
	v["end_of_word_suffix"].only("only null is", nil, "")
	v["fuse_unk"].only("want true or false", nil, true, false)
	v["byte_fallback"].only("only false is; tokens are bytes already", nil, false)
	s.IgnoreMerges = v["ignore_merges"].truth(false)
	s.readVocab(v["vocab"])
	for _, m := range v["merges"].list() {
		s.readMerge(m)
	}
}

// readVocab reads the tokens by id. What the alphabet cannot spell has to be an
// added token, which readAdded sees to: until then it is empty.
func (s *reading) readVocab(n node) {
	o := as[object](n, "an object from token to id")
	for _, key := range o.keys {
		id := o.values[key].id()
		for len(s.Tokens) <= int(id) {
			s.Tokens = append(s.Tokens, nil)
		}
		if s.Tokens[id] != nil {
			panic(o.values[key].fail("id %d is taken by %q", id, spell(s.Tokens[id])))
		}
		token, ok := unspell(key)
		if !ok || len(token) == 0 {
			token = []byte{}
		}
		s.Tokens[id], s.ids[key] = token, id
	}
}

func (s *reading) readMerge(n node) {
	left, right := n.pair()
	l, ok := s.ids[left]
	r, both := s.ids[right]
	if !ok || !both {
		panic(n.fail("%q and %q are not both in the vocabulary", left, right))
	}
	s.Merges = append(s.Merges, Merge{l, r})
}

// pair reads a merge: "a b", or ["a", "b"].
func (n node) pair() (left, right string) {
	if text, ok := n.value.(string); ok {
		left, right, ok = strings.Cut(text, " ")
		if !ok || strings.Contains(right, " ") {
			panic(n.fail("%v, want two tokens with a space between them", n))
		}
		return left, right
	}
	list := n.list()
	if len(list) != 2 {
		panic(n.fail("%v, want two tokens", n))
	}
	return list[0].text(), list[1].text()
}

func (s *reading) readAdded(n node) {
	if n.value != nil {
		for _, item := range n.list() {
			s.readToken(item)
		}
	}
	for id, t := range s.Tokens {
		if t != nil && len(t) == 0 {
			panic(&JSONError{"$.model.vocab", fmt.Sprintf("token %d is empty or has characters that represent no byte, and is not an added token", id)})
		}
	}
}

func (s *reading) readToken(n node) {
	v := n.object("id", "content", "single_word", "lstrip", "rstrip", "normalized", "special")
	for _, key := range []string{"single_word", "lstrip", "rstrip"} {
		v[key].only("only false is", nil, false)
	}
	t := Added{ID: v["id"].id(), Content: v["content"].text(), Special: v["special"].truth(false)}
	t.Normalized = v["normalized"].truth(!t.Special)
	s.Added = append(s.Added, t)
	s.place(v["id"], t)
}

// place holds the id of an added token to the vocabulary: the one that it has
// there, or else the next after all others, as the reference implementation
// numbers it.
func (s *reading) place(n node, t Added) {
	id, ok := s.ids[t.Content]
	if !ok {
		id = int32(len(s.Tokens))
		s.Tokens = append(s.Tokens, nil)
	}
	if id != t.ID {
		panic(n.fail("%q has the id %d, want %d by the vocabulary and the order of the added tokens", t.Content, t.ID, id))
	}
	own := s.Tokens[id]
	if len(own) > 0 && string(own) != t.Content {
		panic(n.fail("%q is found in the text and spells the bytes %q in the vocabulary", t.Content, own))
	}
	if len(own) == 0 {
		s.Tokens[id] = nil
	}
}
