// Package vectors reads and writes vector files: named tensors of numbers,
// kept exactly, in a text form that two languages can print and a person can
// read. The Python references under validation/oracle write them; Go tests read them.
//
// A file is a sequence of lines:
//
//	# anything                      a comment; kept when it precedes a tensor or ends the file
//	tensor case0.x f64 [2 7 5]      a header: name, kind, shape
//	0x1.8p+0 -0x1.91eb85p-4 …       its elements, row-major, any number to a line
//
// The kind is f64, f32 or int. Elements of f64 and f32 are hexadecimal floats
// as written by float.hex in Python or strconv's 'x' format in Go, or one of
// inf, -inf, nan; a decimal float is refused, since it could have been
// rounded. An f32 element must be representable in float32. Elements of int
// are decimal and fit in 64 bits. A scalar has the shape [] and one element; an
// extent of zero is legal and leaves a tensor without elements. Blank lines
// mean nothing. A name is unique in its file and holds no blank and none of '#',
// '[' and ']'.
//
// Reading is strict: whatever does not fit is an error that carries its line
// number. Writing and reading again gives equal values, bit for bit (the
// payload of a NaN excepted).
package vectors
