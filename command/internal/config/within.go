package config

import "bytes"

// offset is the position of a string's byte at in the source of the string, with its
// quotes. All bytes of an escape have the position of its start. The source has been
// read without an error.
func offset(source []byte, at int) int {
	quotes := 1
	if bytes.HasPrefix(source, []byte(`"""`)) || bytes.HasPrefix(source, []byte("'''")) {
		quotes = 3
	}
	i := quotes
	if quotes == 3 { // a newline right after the quotes is not part of the string
		i += len(source[i:]) - len(bytes.TrimPrefix(bytes.TrimPrefix(source[i:], []byte("\r")), []byte("\n")))
	}
	for end := len(source) - quotes; i < end; {
		n, says := 1, 1
		if source[0] == '"' && source[i] == '\\' {
			n, says = escape(source[i:])
		}
		if at < says {
			return i
		}
		at -= says
		i += n
	}
	return i
}

// escape is the length of an escape in a source, and of its value.
func escape(source []byte) (n, says int) {
	digits := map[byte]int{'x': 2, 'u': 4, 'U': 8}[source[1]]
	if digits > 0 {
		var r rune
		for _, c := range source[2 : 2+digits] {
			r = r<<4 | rune(bytes.IndexByte([]byte("0123456789abcdef"), c|' '))
		}
		return 2 + digits, len(string(r))
	}
	if rest := bytes.TrimLeft(source[1:], " \t\r\n"); len(rest) < len(source)-1 { // a continued line
		return len(source) - len(rest), 0
	}
	return 2, 1
}
