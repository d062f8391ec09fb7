package tokenizer

import "unicode/utf8"

// A Decoder prints ids as they come. A token may end within a character; such
// bytes wait for the next token, so that what is printed is always whole
// characters. Bytes that can become no character are U+FFFD, one for each
// longest start of a character, as Unicode recommends (chapter 3, "U+FFFD
// substitution of maximal subparts"). So the pieces, put together, are the text
// in which that was done at once.
type Decoder struct {
	t           Tokenizer
	skipSpecial bool
	buf         [utf8.UTFMax - 1]byte // what waits: the start of a character
	waiting     int
	piece       []byte
}

// NewDecoder returns a Decoder at the start of a text; skipSpecial leaves
// special tokens out.
func NewDecoder(t Tokenizer, skipSpecial bool) *Decoder {
	return &Decoder{t: t, skipSpecial: skipSpecial}
}

// Append appends to dst the text that an id completes. The error is an *IDError,
// and then nothing has changed.
func (d *Decoder) Append(dst []byte, id int32) ([]byte, error) {
	token, special, err := d.t.Token(id)
	if err != nil {
		return dst, err
	}
	if special && d.skipSpecial {
		return dst, nil
	}
	d.piece = append(append(d.piece[:0], d.buf[:d.waiting]...), token...)
	rest := d.piece
	for len(rest) > 0 {
		n, whole := character(rest)
		if n == len(rest) && !whole && utf8MayGoOn(rest) {
			break
		}
		dst = appendCharacter(dst, rest[:n], whole)
		rest = rest[n:]
	}
	d.waiting = copy(d.buf[:], rest)
	return dst, nil
}

// Flush appends U+FFFD if the text ends within a character.
func (d *Decoder) Flush(dst []byte) []byte {
	if d.waiting > 0 {
		dst = appendCharacter(dst, nil, false)
	}
	d.waiting = 0
	return dst
}

// Text returns ids as valid UTF-8, with U+FFFD for bytes that are not.
func Text(t Tokenizer, ids []int32, skipSpecial bool) (string, error) {
	d := NewDecoder(t, skipSpecial)
	var out []byte
	for _, id := range ids {
		var err error
		if out, err = d.Append(out, id); err != nil {
			return "", err
		}
	}
	return string(d.Flush(out)), nil
}

func appendCharacter(dst, c []byte, whole bool) []byte {
	if !whole {
		return utf8.AppendRune(dst, utf8.RuneError)
	}
	return append(dst, c...)
}

// character returns the length of the first character, or where there is none
// of the longest start of one, at least a byte.
func character(b []byte) (n int, whole bool) {
	if r, n := utf8.DecodeRune(b); r != utf8.RuneError || n > 1 {
		return n, true
	}
	n = 1
	for n < len(b) && n < utf8.UTFMax-1 && utf8MayGoOn(b[:n+1]) {
		n++
	}
	return n, false
}

// utf8MayGoOn reports whether bytes are the start of a character that is not
// whole.
func utf8MayGoOn(b []byte) bool { return !utf8.FullRune(b) }
