package notation

import (
	"strings"
)

// Locals are the names that do not mean the block's: parameters and local definitions,
// which are true, and indices, false: an index s does not hide s_t. The definition may be
// nil.
func Locals(params []*Param, d *Define) map[string]bool {
	out := map[string]bool{}
	for _, p := range params {
		out[p.Name.Text] = true
	}
	if d != nil {
		for _, w := range d.With {
			out[w.Target.Name.Name.Text] = true
		}
	}
	return out
}

// Bind adds indices to local names.
func Bind(local map[string]bool, bs []*Binder) {
	for _, b := range bs {
		if _, hidden := local[b.Name.Text]; !hidden && b.Name.Text != "" {
			local[b.Name.Text] = false
		}
		Bind(local, b.Tuple)
	}
}

// Names as the compiler holds them: one word for a name, the member of a family in
// brackets and the token at which it is read, in this order: M[k]_t is the member k of M
// at token t. A page writes the time before the bracket, M_t[k].

// TokenTime is the letter of a rule's time: M_t is M at this token.
const TokenTime = "t"

// Base cuts the suffix of this token from a name: M of M_t.
func Base(text string) string { return strings.TrimSuffix(text, "_"+TokenTime) }

// IsPrevious reports whether the time of a name is the one before a letter: t−1, the token
// before, of t.
func IsPrevious(time Expr, letter string) bool {
	b, ok := time.(*Binary)
	if !ok || b.Op != "−" {
		return false
	}
	id, isID := b.X.(*Ident)
	n, isNum := b.Y.(*Number)
	return isID && isNum && id.Name.Text == letter && n.Value == 1
}

// MemberText is the one word for a member of a family.
func MemberText(name, member string) string { return name + "[" + member + "]" }

// CutMember takes the member off a word, and leaves the time where it is:
// `M[k]_t` is M_t and k. The member of any other word is empty.
func CutMember(text string) (name, member string) {
	i, j := strings.IndexByte(text, '['), strings.IndexByte(text, ']')
	if i < 0 || j < i {
		return text, ""
	}
	return text[:i] + text[j+1:], text[i+1 : j]
}

// At appends a time, `_t` or `_{t−1}`, to a name as a page writes
// it: before the bracket of a member.
func At(name, when string) string {
	base, member := CutMember(name)
	if member == "" {
		return name + when
	}
	return MemberText(base+when, member)
}
