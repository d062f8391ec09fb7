package notation

import (
	"maps"
	"slices"
)

// The vocabulary of the language.

// UnitKinds are the words that open a unit when a name follows. They are not
// reserved: a schedule calls its parts rule and update.
var UnitKinds = map[string]UnitKind{
	"op": OpUnit, "front": FrontUnit, "structure": StructUnit, "bias": BiasUnit,
	"retention": RetentionUnit, "algorithm": AlgorithmUnit, "law": LawUnit, "rule": RuleUnit,
	"compose": ComposeUnit, "model": ModelUnit, "update": UpdateUnit, "schedule": ComposeUnit,
	"strategy": StrategyUnit,
}

// UnitWords are the words that open a unit.
func UnitWords() []string { return slices.Sorted(maps.Keys(UnitKinds)) }

// DeclareWords open a declaration.
var DeclareWords = []string{
	"input", "outer", "gate", "state", "weight", "slot", "anchor", "const", "snap", "clock", "option",
}

// StatementWords open a statement that is not a declaration.
var StatementWords = []string{
	"dims", "claim", "eval", "adjoint", "relax", "kink", "invariant", "provides", "requires", "special",
	"erratum", "cost", "solve", "iterate", "nograd", "fit", "read", "each", "level", "guard", "when",
	"family", "match", "trial",
}

// InnerWords occur inside a statement.
var InnerWords = []string{
	"if", "otherwise", "and", "with", "case", "over", "for", "from", "orient", "tol", "by", "within", "of",
	"at", "else", "frozen", "nodecay", "entrywise", "per", "seed", "replicate",
}

// SymbolWords are the ASCII words for symbols.
var SymbolWords = map[string]string{
	"in": "∈", "union": "∪", "forall": "∀", "mod": "mod", "after": "∘",
}

var keywords = func() map[string]bool {
	m := map[string]bool{}
	for _, l := range [][]string{DeclareWords, StatementWords, InnerWords} {
		for _, w := range l {
			m[w] = true
		}
	}
	return m
}()

// IsKeyword reports whether a word belongs to a form of the language.
func IsKeyword(word string) bool { return keywords[word] }

// Reserved reports whether a word of the language cannot be a name.
func Reserved(word string) bool { return keywords[word] || SymbolWords[word] != "" || word == "inf" }

// SubscriptWords are the words that take a subscript of their own, so that
// `softmax_s` is softmax with the binder s and not a name.
var SubscriptWords = map[string]string{
	"softmax": "softmax", "logsumexp": "logsumexp", "mean": "mean", "max": "max", "min": "min",
	"sum": "Σ", "prod": "Π", "grad": "∇",
}

// Subscripted reports whether a word takes a subscript of its own.
func Subscripted(word string) bool { return SubscriptWords[word] != "" }

// Builtins are the function words that every page knows.
var Builtins = map[string]bool{
	"abs": true, "cos": true, "diag": true, "erf": true, "exp": true, "expm1": true, "floor": true, "inner": true, "log": true,
	"log1p": true, "logsumexp": true, "max": true, "mean": true, "min": true, "norm": true, "normal": true, "O": true, "position": true,
	"sigmoid": true, "sign": true, "silu": true, "sin": true, "softmax": true, "softplus": true, "sqrt": true,
	"stop": true, "tanh": true, "uniform": true, "window": true,
}

// Prediction is the word by which a law calls what a structure predicts, as a
// function of the weight. No unit defines it; it is a call on the lines of a law
// and nowhere else.
const Prediction = "F"
