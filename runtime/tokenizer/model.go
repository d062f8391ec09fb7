package tokenizer

import (
	"fmt"
	"strings"
)

// readModel reads the vocabulary and the merges, and refuses what would make
// other ids of them.
func (s *reading) readModel(n node) error {
	o, err := n.typed("BPE", "dropout", "unk_token", "continuing_subword_prefix", "end_of_word_suffix",
		"fuse_unk", "byte_fallback", "ignore_merges", "vocab", "merges")
	if err != nil {
		return err
	}
	for _, f := range []struct {
		key    string
		why    string
		values []any
	}{
		{"dropout", "only null is; ids would be drawn at random", []any{nil}},
		{"unk_token", "only null is; bytes are never unknown", []any{nil}},
		{"continuing_subword_prefix", "only null is", []any{nil, ""}},
		{"end_of_word_suffix", "only null is", []any{nil, ""}},
		{"fuse_unk", "want true or false", []any{nil, true, false}},
		{"byte_fallback", "only false is; tokens are bytes already", []any{nil, false}},
	} {
		if err := o.values[f.key].only(f.why, f.values...); err != nil {
			return err
		}
	}
	if s.IgnoreMerges, err = o.values["ignore_merges"].truth(false); err != nil {
		return err
	}
	if err := s.readVocab(o.values["vocab"]); err != nil {
		return err
	}
	return s.readMerges(o.values["merges"])
}

// readVocab reads the tokens by id. What the alphabet cannot spell has to be an
// added token, which readAdded sees to: until then it is empty.
func (s *reading) readVocab(n node) error {
	o, ok := n.value.(object)
	if !ok {
		return n.fail("%v, want an object from token to id", n)
	}
	for _, key := range o.keys {
		id, err := o.values[key].id()
		if err != nil {
			return err
		}
		for len(s.Tokens) <= int(id) {
			s.Tokens = append(s.Tokens, nil)
		}
		if s.Tokens[id] != nil {
			return o.values[key].fail("id %d is taken by %q", id, spell(s.Tokens[id]))
		}
		token, ok := unspell(key)
		if !ok || len(token) == 0 {
			token = []byte{}
		}
		s.Tokens[id], s.ids[key] = token, id
	}
	return nil
}

func (s *reading) readMerges(n node) error {
	list, err := n.list()
	if err != nil {
		return err
	}
	for _, m := range list {
		left, right, err := m.pair()
		if err != nil {
			return err
		}
		l, ok := s.ids[left]
		r, both := s.ids[right]
		if !ok || !both {
			return m.fail("%q and %q are not both in the vocabulary", left, right)
		}
		s.Merges = append(s.Merges, Merge{l, r})
	}
	return nil
}

// pair reads a merge: "a b", or ["a", "b"].
func (n node) pair() (left, right string, err error) {
	if text, ok := n.value.(string); ok {
		left, right, ok = strings.Cut(text, " ")
		if !ok || strings.Contains(right, " ") {
			return "", "", n.fail("%v, want two tokens with a space between them", n)
		}
		return left, right, nil
	}
	list, err := n.list()
	if err != nil {
		return "", "", err
	}
	if len(list) != 2 {
		return "", "", n.fail("%v, want two tokens", n)
	}
	if left, err = list[0].text(); err != nil {
		return "", "", err
	}
	right, err = list[1].text()
	return left, right, err
}

func (s *reading) readAdded(n node) error {
	if n.value != nil {
		list, err := n.list()
		if err != nil {
			return err
		}
		for _, item := range list {
			if err := s.readToken(item); err != nil {
				return err
			}
		}
	}
	for id, t := range s.Tokens {
		if t != nil && len(t) == 0 {
			return &JSONError{"$.model.vocab", fmt.Sprintf("token %d is empty or has characters that represent no byte, and is not an added token", id)}
		}
	}
	return nil
}

func (s *reading) readToken(n node) error {
	o, err := n.object("id", "content", "single_word", "lstrip", "rstrip", "normalized", "special")
	if err != nil {
		return err
	}
	for _, key := range []string{"single_word", "lstrip", "rstrip"} {
		if err := o.values[key].only("only false is", nil, false); err != nil {
			return err
		}
	}
	var t Added
	if t.ID, err = o.values["id"].id(); err != nil {
		return err
	}
	if t.Content, err = o.values["content"].text(); err != nil {
		return err
	}
	if t.Special, err = o.values["special"].truth(false); err != nil {
		return err
	}
	if t.Normalized, err = o.values["normalized"].truth(!t.Special); err != nil {
		return err
	}
	s.Added = append(s.Added, t)
	return s.place(o.values["id"], t)
}

// place holds the id of an added token to the vocabulary: the one that it has
// there, or else the next after all others, as the reference implementation
// numbers it.
func (s *reading) place(n node, t Added) error {
	id, ok := s.ids[t.Content]
	if !ok {
		id = int32(len(s.Tokens))
		s.Tokens = append(s.Tokens, nil)
	}
	if id != t.ID {
		return n.fail("%q has the id %d, want %d by the vocabulary and the order of the added tokens", t.Content, t.ID, id)
	}
	own := s.Tokens[id]
	if len(own) > 0 && string(own) != t.Content {
		return n.fail("%q is found in the text and spells the bytes %q in the vocabulary", t.Content, own)
	}
	if len(own) == 0 {
		s.Tokens[id] = nil
	}
	return nil
}
