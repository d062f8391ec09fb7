package parser

import (
	"slices"
)

// A kind tells tokens apart; the zero value is invalid.
type kind uint8

const (
	_       kind = iota
	tEnd         // the end of a logical line
	tBad         // a character that was reported already
	tName        // a name; bar says whether it carries an adjoint bar
	tWord        // a reserved word
	tNumber      // text is the ASCII spelling, "½" or "∞"
	tString      // text is the value
	tCite        // paper#eq; text is both parts
	tSup         // a run of superscripts, text in ASCII: "2", "-1", "n"
	tOp          // everything else; text is the canonical symbol
)

// A token is one word or sign of a block. pos and end are bytes of the block.
type token struct {
	kind     kind
	text     string
	bar      bool
	space    bool // preceded by white space or the start of a line
	first    bool // it is the first of its physical line
	pos, end int
}

func (t token) is(op string) bool { return t.kind == tOp && t.text == op }

func (t token) word(w string) bool { return t.kind == tWord && t.text == w }

func (t token) name(w string) bool { return t.kind == tName && t.text == w && !t.bar }

func (t token) oneOf(l []string) bool { return t.kind == tOp && slices.Contains(l, t.text) }

var (
	relations = []string{"=", "≠", "<", "≤", ">", "≥", "∈", "≡"}
	bounds    = []string{"<", "≤", ">", "≥"}
	products  = []string{"·", "⊙", "/", "mod", "∘"}
)

// continues reports whether a line that starts with t belongs to the line above.
func (t token) continues() bool {
	if t.kind == tWord {
		return t.text == "with" || t.text == "and" || t.text == "otherwise" || t.text == "if"
	}
	return t.oneOf(relations) || t.oneOf(products) || t.kind == tOp && (t.text == "+" || t.text == "−" || t.text == "∪" ||
		t.text == "→" || t.text == "←" || t.text == ":=" || t.text == "~" || t.text == "×" ||
		t.text == ")" || t.text == "]" || t.text == "}")
}

// operators maps every spelling of a sign to its symbol. Longer spellings come first.
var operators = []struct{ from, to string }{
	{"(*)", "⊙"}, {"...", "…"}, {":=", ":="}, {"!=", "≠"}, {"<=", "≤"}, {">=", "≥"}, {"==", "≡"},
	{"->", "→"}, {"<-", "←"}, {"_{", "_{"},
}

// signs maps one rune to its symbol: look-alikes are normalised where that is harmless.
var signs = map[rune]string{
	'(': "(", ')': ")", '[': "[", ']': "]", '{': "{", '}': "}", '⟨': "⟨", '⟩': "⟩", '〈': "⟨", '〉': "⟩",
	',': ",", ';': ";", ':': ":", '^': "^", '_': "_", '|': "|", '∣': "|", '‖': "‖", '∥': "‖",
	'+': "+", '-': "−", '−': "−", '–': "−", '‐': "−", '‑': "−", '/': "/", '∕': "/",
	'·': "·", '⋅': "·", '∙': "·", '⊙': "⊙", '⨀': "⊙", '∘': "∘", '*': "×", '×': "×", '∗': "×",
	'=': "=", '≠': "≠", '<': "<", '>': ">", '≤': "≤", '≥': "≥", '⩽': "≤", '⩾': "≥", '≦': "≤", '≧': "≥",
	'∈': "∈", '∊': "∈", '≡': "≡", '∪': "∪", '→': "→", '⟶': "→", '←': "←", '⟵': "←", '~': "~", '∼': "~",
	'…': "…", '⋯': "…", '∀': "∀", '∇': "∇", 'Σ': "Σ", '∑': "Σ", 'Π': "Π", '∏': "Π",
	'ℝ': "ℝ", '𝕊': "𝕊", 'ᵀ': "ᵀ", '⊤': "ᵀ", '\'': "ᵀ", '′': "ᵀ",
}

// asciiOps are the signs below 128, found without a map.
var asciiOps = func() (t [128]string) {
	for r, s := range signs {
		if r < 128 {
			t[r] = s
		}
	}
	return t
}()

// signOf returns the symbol that a rune spells alone; empty if it spells none.
func signOf(r rune) string {
	if uint32(r) < 128 {
		return asciiOps[r]
	}
	return signs[r]
}
