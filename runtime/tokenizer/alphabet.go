package tokenizer

// In a tokenizer.json a token is a string in which every byte is one printable
// character. Bytes that are printable in Latin-1 represent themselves; the
// others, in order, for the characters from U+0100 on, so that a space is Ġ.
// Source: bytes_to_unicode of GPT-2 (Radford et al. 2019).

// letters has the character of every byte; byteOf is its inverse.
var letters, byteOf = func() (letters [byteTokens]rune, byteOf map[rune]byte) {
	byteOf = map[rune]byte{}
	next := rune(0x100)
	for b := range letters {
		switch {
		case b >= '!' && b <= '~', b >= 0xa1 && b <= 0xac, b >= 0xae:
			letters[b] = rune(b)
		default:
			letters[b] = next
			next++
		}
		byteOf[letters[b]] = byte(b)
	}
	return letters, byteOf
}()

// spell writes bytes in the alphabet.
func spell(token []byte) string {
	out := make([]rune, len(token))
	for i, b := range token {
		out[i] = letters[b]
	}
	return string(out)
}

// unspell is the inverse of spell; ok is false for other characters.
func unspell(s string) (token []byte, ok bool) {
	for _, r := range s {
		b, ok := byteOf[r]
		if !ok {
			return nil, false
		}
		token = append(token, b)
	}
	return token, true
}
