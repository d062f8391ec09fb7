package notation

import (
	"maps"
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
	space    bool // white space or the start of a line stands before it
	first    bool // it is the first of its physical line
	pos, end int
}

func (t token) is(op string) bool     { return t.kind == tOp && t.text == op }
func (t token) word(w string) bool    { return t.kind == tWord && t.text == w }
func (t token) name(w string) bool    { return t.kind == tName && t.text == w && !t.bar }
func (t token) oneOf(l []string) bool { return t.kind == tOp && slices.Contains(l, t.text) }

// unitKinds are the words that open a unit when a name follows. They are not
// reserved: a schedule calls its parts rule and update.
var unitKinds = map[string]UnitKind{
	"op": OpUnit, "front": FrontUnit, "structure": StructUnit, "bias": BiasUnit,
	"retention": RetentionUnit, "algorithm": AlgorithmUnit, "law": LawUnit, "rule": RuleUnit,
	"compose": ComposeUnit, "model": ModelUnit, "update": UpdateUnit, "schedule": ComposeUnit,
	"strategy": StrategyUnit,
}

// UnitWords are the words that open a unit.
func UnitWords() []string { return slices.Sorted(maps.Keys(unitKinds)) }

// declareWords open a declaration.
var declareWords = []string{
	"input", "outer", "gate", "state", "weight", "slot", "anchor", "const", "snap", "clock", "option",
}

// statementWords open a statement that is not a declaration.
var statementWords = []string{
	"dims", "claim", "eval", "adjoint", "relax", "kink", "invariant", "provides", "requires", "special",
	"erratum", "cost", "solve", "iterate", "nograd", "fit", "read", "each", "level", "guard", "when",
	"family", "match", "trial",
}

// innerWords stand inside a statement.
var innerWords = []string{
	"if", "otherwise", "and", "with", "case", "over", "for", "from", "orient", "tol", "by", "within", "of",
	"at", "else", "frozen", "nodecay", "entrywise", "per", "seed", "replicate",
}

// symbolWords are the ASCII words for symbols.
var symbolWords = map[string]string{
	"in": "∈", "union": "∪", "forall": "∀", "mod": "mod", "after": "∘",
}

var reserved = func() map[string]bool {
	m := map[string]bool{}
	for _, l := range [][]string{declareWords, statementWords, innerWords} {
		for _, w := range l {
			m[w] = true
		}
	}
	return m
}()

// Reserved reports whether a word of the language cannot be a name.
func Reserved(word string) bool { return reserved[word] || symbolWords[word] != "" || word == "inf" }

// subscripted are the words that take a subscript of their own, so that
// `softmax_s` is softmax with the binder s and not a name.
var subscripted = map[string]string{
	"softmax": "softmax", "logsumexp": "logsumexp", "mean": "mean", "max": "max", "min": "min",
	"sum": "Σ", "prod": "Π", "grad": "∇",
}

// Subscripted reports whether a word takes a subscript of its own.
func Subscripted(word string) bool { return subscripted[word] != "" }

// Builtins are the function words that every page knows.
var Builtins = map[string]bool{
	"abs": true, "cos": true, "diag": true, "erf": true, "exp": true, "expm1": true, "floor": true, "inner": true, "log": true,
	"log1p": true, "logsumexp": true, "max": true, "mean": true, "min": true, "norm": true, "normal": true, "O": true,
	"sigmoid": true, "sign": true, "silu": true, "sin": true, "softmax": true, "softplus": true, "sqrt": true,
	"stop": true, "tanh": true, "uniform": true, "window": true,
}

// Prediction is the word by which a law calls what a structure predicts, as a
// function of the weight. No unit defines it; it is a call on the lines of a law
// and nowhere else.
const Prediction = "F"

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
