package tokenizer

import "fmt"

// A Split says how text is cut into pieces before bytes are merged. The
// families are known by a regular expression; here each is a function that
// returns the length of the first piece and makes the choices that a
// backtracking matcher makes. Every byte is in exactly one piece. A byte
// that is not UTF-8 counts as a symbol. The classes of characters are those
// of package unicode: a character that a later version of Unicode made a
// letter is a symbol here.
type Split uint8

// The splits. The zero value is invalid. GPT2, with [L] letters, [N] numbers,
// [S] white space:
//
//	's|'t|'re|'ve|'m|'ll|'d| ?[L]+| ?[N]+| ?[^S L N]+|S+(?!\S)|S+
//
// CL100K, where contractions match any case:
//
//	contraction|[^\r\n L N]?[L]+|[N]{1,3}| ?[^S L N]+[\r\n]*|S*[\r\n]+|S+(?!\S)|S+
//
// Digits is CL100K with one number a piece, [N]. O200K, with U upper, title,
// modifier and other letters and marks, V lower instead of upper and title:
//
//	[^\r\n L N]?U*V+contraction?|[^\r\n L N]?U+V*contraction?|[N]{1,3}
//	| ?[^S L N]+[\r\n/]*|S*[\r\n]+|S+(?!\S)|S+
const (
	_      Split = iota
	Uncut        // the whole text is one piece
	GPT2         // GPT-2, and ByteLevel with use_regex
	CL100K       // GPT-4, Llama 3
	Digits       // Qwen 2
	O200K        // GPT-4o
)

// String returns the name of the split.
func (s Split) String() string {
	if s < Uncut || s > O200K {
		return fmt.Sprintf("Split(%d)", uint8(s))
	}
	return [...]string{Uncut: "uncut", GPT2: "gpt2", CL100K: "cl100k", Digits: "digits", O200K: "o200k"}[s]
}

// next returns the length of the first piece of a text that is not empty.
func (s Split) next(text []byte) int {
	switch s {
	case Uncut:
		return len(text)
	case GPT2:
		return nextGPT2(text)
	case CL100K:
		return nextCL100K(text, 3)
	case Digits:
		return nextCL100K(text, 1)
	case O200K:
		return nextO200K(text)
	}
	panic("tokenizer: BUG: no such split: " + s.String())
}

// contraction returns the length of 's, 't, 're, 've, 'm, 'll or 'd at a place,
// or 0. Where case does not matter the long s (ſ) is an s.
func contraction(text []byte, i int, fold bool) int {
	if i+1 >= len(text) || text[i] != '\'' {
		return 0
	}
	low := func(i int) byte {
		if i >= len(text) {
			return 0
		}
		if b := text[i]; !fold || b < 'A' || b > 'Z' {
			return b
		}
		return text[i] | 0x20
	}
	switch a, b := low(i+1), low(i+2); {
	case a == 's' || a == 't' || a == 'm' || a == 'd':
		return 2
	case b == 'e' && (a == 'r' || a == 'v') || a == 'l' && b == 'l':
		return 3
	case fold && a == 0xc5 && b == 0xbf:
		return 3
	}
	return 0
}

func nextGPT2(text []byte) int {
	if n := contraction(text, 0, false); n > 0 {
		return n
	}
	if n := symbols(text, 0, letter); n > 0 {
		return n
	}
	if n := symbols(text, 0, number); n > 0 {
		return n
	}
	if n := others(text); n > 0 {
		return n
	}
	return blanks(text)
}

// symbols is ` ?[want]+`: its length or 0.
func symbols(text []byte, i int, want class) int {
	if text[i] == ' ' {
		i++
	}
	if end := run(text, i, want, 0); end > i {
		return end
	}
	return 0
}

// others is ` ?[^S L N]+`: its length or 0.
func others(text []byte) int {
	i := 0
	if text[0] == ' ' {
		i++
	}
	if end := run(text, i, 0, space|letter|number); end > i {
		return end
	}
	return 0
}

// blanks is `S+(?!\S)|S+`: white space, without its last character if a piece
// follows that may want it.
func blanks(text []byte) int {
	last, end := 0, 0
	for {
		c, n := at(text, end)
		if c&space == 0 {
			break
		}
		last, end = end, end+n
	}
	if end < len(text) && last > 0 {
		return last
	}
	return end
}

// lines is `S*[\r\n]+`: white space up to its last line break, or 0.
func lines(text []byte) (end int) {
	for i := 0; ; {
		c, n := at(text, i)
		if c&space == 0 {
			return end
		}
		if i += n; c&newline != 0 {
			end = i
		}
	}
}

// prefix is `[^\r\n L N]?`: the length of the optional symbol before letters.
func prefix(text []byte) int {
	if c, n := at(text, 0); c&(newline|letter|number) == 0 {
		return n
	}
	return 0
}

func nextCL100K(text []byte, digits int) int {
	if n := contraction(text, 0, true); n > 0 {
		return n
	}
	first := prefix(text)
	if end := run(text, first, letter, 0); end > first {
		return end
	}
	if n := numbers(text, digits); n > 0 {
		return n
	}
	if n := others(text); n > 0 {
		return run(text, n, newline, 0)
	}
	if n := lines(text); n > 0 {
		return n
	}
	return blanks(text)
}

// numbers is `[N]{1,most}`: its length or 0.
func numbers(text []byte, most int) (end int) {
	for range most {
		c, n := at(text, end)
		if c&number == 0 {
			break
		}
		end += n
	}
	return end
}

func nextO200K(text []byte) int {
	p := prefix(text)
	for _, word := range []func([]byte, int) int{capitalized, capitals} {
		for _, i := range []int{p, 0} {
			if end := word(text, i); end > 0 {
				return end + contraction(text, end, true)
			}
		}
	}
	if n := numbers(text, 3); n > 0 {
		return n
	}
	if n := others(text); n > 0 {
		return run(text, n, newline|slash, 0)
	}
	if n := lines(text); n > 0 {
		return n
	}
	return blanks(text)
}

// capitalized is `U*V+` at a place: its end or 0. The U take what they can; if
// no V follows they give back to their last character that is a V as well.
func capitalized(text []byte, i int) int {
	both := 0 // end of the last character that is U and V
	for {
		c, n := at(text, i)
		if n == 0 || c&upper == 0 {
			break
		}
		if i += n; c&lower != 0 {
			both = i
		}
	}
	if end := run(text, i, lower, 0); end > i {
		return end
	}
	return both
}

// capitals is `U+V*` at a place: its end or 0.
func capitals(text []byte, i int) int {
	end := run(text, i, upper, 0)
	if end == i {
		return 0
	}
	return run(text, end, lower, 0)
}
