package tokenizer

import (
	"errors"
	"slices"
)

// An Added token is found in the text before the text is cut.
//
// Of two that begin at one place the longer counts. Those that are not
// Normalized are looked for first, in all of the text, and the others in the
// normal form of what is left between them. Source: AddedVocabulary of Hugging
// Face's tokenizers.
type Added struct {
	ID         int32
	Content    string
	Special    bool
	Normalized bool
}

// added finds added tokens.
type added struct {
	list  []Added
	first [2][256][]int // of list, by Normalized and first byte, longest first
}

var (
	errEmpty = errors.New("it is empty")
	errTwice = errors.New("it is there twice")
)

func (a *added) add(t Added) error {
	if t.Content == "" {
		return errEmpty
	}
	for _, old := range a.list {
		if old.Content == t.Content {
			return errTwice
		}
	}
	a.list = append(a.list, t)
	row := &a.first[phase(t)][t.Content[0]]
	*row = append(*row, len(a.list)-1)
	slices.SortStableFunc(*row, func(i, j int) int { return len(a.list[j].Content) - len(a.list[i].Content) })
	return nil
}

func phase(t Added) int {
	if t.Normalized {
		return 1
	}
	return 0
}

// encode appends added tokens, and what ordinary makes of the normal form of the
// text between.
func (a *added) encode(dst []int32, text []byte, normal func([]byte) []byte, ordinary func([]int32, []byte) []int32) []int32 {
	if len(a.list) == 0 {
		return ordinary(dst, normal(text))
	}
	return a.cut(dst, text, 0, func(dst []int32, piece []byte) []int32 {
		return a.cut(dst, normal(piece), 1, ordinary)
	})
}

// cut finds the tokens of one phase, and passes on the text between them.
func (a *added) cut(dst []int32, text []byte, phase int, between func([]int32, []byte) []int32) []int32 {
	rest := func(dst []int32, piece []byte) []int32 {
		if len(piece) == 0 {
			return dst
		}
		return between(dst, piece)
	}
	from := 0
	for at := 0; at < len(text); {
		i := a.match(text[at:], phase)
		if i < 0 {
			at++
			continue
		}
		dst = append(rest(dst, text[from:at]), a.list[i].ID)
		at += len(a.list[i].Content)
		from = at
	}
	return rest(dst, text[from:])
}

// match returns the longest token that the text begins with, or -1.
func (a *added) match(text []byte, phase int) int {
	for _, i := range a.first[phase][text[0]] {
		c := a.list[i].Content
		if len(c) <= len(text) && string(text[:len(c)]) == c {
			return i
		}
	}
	return -1
}
