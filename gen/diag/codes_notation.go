package diag

import "strings"

// What the scanner and the parser of equations report.
const (
	// BadCharacter occurs when a sign is not part of the notation.
	BadCharacter Code = 2001
	// LookAlike occurs when a letter of a name looks like a Latin letter and is not one.
	LookAlike Code = 2002
	// CombiningMark occurs when a letter carries something other than one bar.
	CombiningMark Code = 2003
	// RunTogether occurs when two words are written without a space.
	RunTogether Code = 2004
	// BadNumber occurs when a number cannot be read.
	BadNumber Code = 2005
	// OpenString occurs when a string does not end on its line.
	OpenString Code = 2006
	// BadCite occurs when the text after @ is not a citation.
	BadCite Code = 2007
	// Unclosed occurs when a bracket is not closed on its line.
	Unclosed Code = 2008
	// Unopened occurs when a closing bracket has no partner.
	Unopened Code = 2009
	// NoExpression occurs when an operand is missing.
	NoExpression Code = 2010
	// Unexpected occurs when something else was expected.
	Unexpected Code = 2011
	// MixedOperators occurs when · ⊙ / mod ∘ are mixed without parentheses.
	MixedOperators Code = 2012
	// DivideRow occurs when the right operand of / is more than one factor.
	DivideRow Code = 2013
	// Bars occurs when bars are nested or adjacent.
	Bars Code = 2014
	// NoFunction occurs when a word is called that is not a function.
	NoFunction Code = 2015
	// ReservedWord occurs when a word of the language is used as a name.
	ReservedWord Code = 2016
	// TooDeep occurs when brackets nest deeper than the compiler goes.
	TooDeep Code = 2017
	// TooLong occurs when one line holds more than the compiler takes.
	TooLong Code = 2018
	// StrayStatement occurs when a statement is before any unit.
	StrayStatement Code = 2019
	// NoStatement occurs when a line is not a statement.
	NoStatement Code = 2020
	// BadType occurs when the text after ∈ in a declaration is not a type.
	BadType Code = 2021
	// BadBinder occurs when a subscript binds nothing.
	BadBinder Code = 2022
	// BadGradient occurs when ∇ lacks its parameter or its call.
	BadGradient Code = 2023
	// Times occurs when × or * is used as a product of values.
	Times Code = 2024
	// HeaderDefault occurs when a header gives a parameter a value.
	HeaderDefault Code = 2025
	// Clause occurs when a declared name has a clause twice, or one without a value.
	Clause Code = 2026
)

func init() {
	register(map[Code]Explanation{
		BadCharacter: {
			"A block contains a sign that is not part of the notation: a control character, a byte that is not UTF-8, a lone dot.",
			"op Copy(A ∈ ℝ^{n}) → out = A $ 1\n",
			"op Copy(A ∈ ℝ^{n}) → out = A + 1\n",
			false,
		},
		LookAlike: {
			"A letter of a name looks like a Latin letter and is another one (here a Cyrillic А), or is a dressed-up letter such as a bold 𝐀. Two such names would look the same and be different.",
			"op Copy(А ∈ ℝ^{n}) → out = А\n",
			"op Copy(A ∈ ℝ^{n}) → out = A\n",
			false,
		},
		CombiningMark: {
			"A letter carries a mark other than the bar, or two bars. The bar marks the adjoint; every other decoration is a word.",
			"op Copy(x̂ ∈ ℝ^{n}) → out = x̂\n",
			"op Copy(x_hat ∈ ℝ^{n}) → out = x_hat\n",
			false,
		},
		RunTogether: {
			"Two words are joined without a space. A product is written with a space.",
			"op Double(A ∈ ℝ^{n}) → out = 2A\n",
			"op Double(A ∈ ℝ^{n}) → out = 2 A\n",
			false,
		},
		BadNumber: {
			"A number has two points, or does not fit in a float64.",
			"op Grow(A ∈ ℝ^{n}) → out = 1e999 A\n",
			"op Grow(A ∈ ℝ^{n}) → out = 1e99 A\n",
			false,
		},
		OpenString: {
			"A string does not end on its line.",
			"rule Still\nnograd x \"it is an index\n",
			"rule Still\nnograd x \"it is an index\"\n",
			false,
		},
		BadCite: {
			"What follows @ is not `@eq paper#eq`, `@eq paper#eq-eq` or `@eq paper#?`.",
			"rule Still\ny_t = x_t  @eq paper 13\n",
			"rule Still\ny_t = x_t  @eq paper#13\n",
			false,
		},
		Unclosed: {
			"A bracket is not closed on its logical line.",
			"rule Still\ny_t = (x_t + 1\n",
			"rule Still\ny_t = (x_t + 1)\n",
			false,
		},
		Unopened: {
			"A closing bracket has no partner, or closes another kind of bracket.",
			"rule Still\ny_t = x_t + 1)\n",
			"rule Still\ny_t = (x_t + 1)\n",
			false,
		},
		NoExpression: {
			"An operand is missing: after an operator, between two commas, before the end of a line.",
			"rule Still\ny_t = x_t +\n",
			"rule Still\ny_t = x_t + 1\n",
			false,
		},
		Unexpected: {
			"Something else was expected here. A line that starts deeper than the one above continues it, which is a frequent cause.",
			"rule Still\n  y_t = x_t\n",
			"rule Still\ny_t = x_t\n",
			false,
		},
		MixedOperators: {
			"Two different operators of · ⊙ / mod ∘ are side by side. They have one level, so parentheses say which comes first.",
			"rule Still\ny_t = a · x_t ⊙ b\n",
			"rule Still\ny_t = (a · x_t) ⊙ b\n",
			false,
		},
		DivideRow: {
			"Several factors follow /, and it is not clear which of them are in the denominator.",
			"rule Still\ny_t = x_t / 2 d\n",
			"rule Still\ny_t = x_t / (2 d)\n",
			false,
		},
		Bars: {
			"Bars are inside bars or next to bars, so it is ambiguous which of them open.",
			"rule Still\ny_t = |a| |x_t|\n",
			"rule Still\ny_t = |a| · |x_t|\n",
			false,
		},
		NoFunction: {
			"`name(a, b)` is written, but nothing with this name can be called. `name(` is a call exactly when the name is a known function or part, and otherwise a product.",
			"rule Still\ny_t = shrink(x_t, 1)\n",
			"shrink(z, a) = { z − a if z > a ; 0 otherwise }\n\nrule Still\ny_t = shrink(x_t, 1)\n",
			false,
		},
		ReservedWord: {
			"A word of the language is used as a name.",
			"rule Still\ndims state\n",
			"rule Still\ndims n_state\n",
			false,
		},
		TooDeep: {
			"Brackets, exponents or parts nest deeper than the compiler goes (200 levels).",
			"rule Still\ny_t = " + repeat("(", 300) + "x_t" + repeat(")", 300) + "\n",
			"rule Still\ny_t = (x_t)\n",
			false,
		},
		TooLong: {
			"One logical line holds more than 20,000 words and signs.",
			"rule Still\ny_t = x_t" + repeat(" + 1", 15000) + "\n",
			"rule Still\ny_t = x_t + 15000\n",
			false,
		},
		StrayStatement: {
			"A statement precedes the first header of its block. Only a function definition may.",
			"y_t = x_t\n",
			"rule Still\ny_t = x_t\n",
			false,
		},
		NoStatement: {
			"A line is neither a definition nor a statement that starts with a word of the language.",
			"rule Still\nthe memory is copied\n",
			"rule Still\ny_t = x_t  // the memory is copied\n",
			false,
		},
		BadType: {
			"What follows ∈ in a declaration is no type, or a part of a type has the wrong form.",
			"rule Still\nstate M ∈ Matrix\n",
			"rule Still\nstate M ∈ ℝ^{m×k}\n",
			false,
		},
		BadBinder: {
			"A subscript of Σ, Π, softmax or an index of a definition binds no name, or a condition precedes the first name.",
			"rule Still\ny_t = Σ_{3 < i} x_t[i]\n",
			"rule Still\ny_t = Σ_{i∈d, i > 3} x_t[i]\n",
			false,
		},
		BadGradient: {
			"∇ needs the parameter by which it differentiates and exactly one call of a scalar function.",
			"rule Still\ny_t = ∇_M (M x_t)\n",
			"ℓ(M; x) = ½ ‖M x‖²\n\nrule Still\ny_t = ∇_M ℓ(M_{t−1}; x_t)\n",
			false,
		},
		Times: {
			"× (or *) multiplies axes in a type or in dims. Values are multiplied with a space, · or ⊙.",
			"rule Still\ny_t = 2 * x_t\n",
			"rule Still\ny_t = 2 x_t\n",
			false,
		},
		HeaderDefault: {
			"A parameter of a header or a function has a default. Headers list parts; configuration values are options of the body.",
			"front Plain(conv = 0)\n",
			"front Plain\noption conv ≥ 0 = 0\n",
			false,
		},
		Clause: {
			"A declared name has two clauses of one kind, or a clause has a value of the wrong form.",
			"rule Still\nstate M ∈ ℝ^{m×k} = 0 = 1\n",
			"rule Still\nstate M ∈ ℝ^{m×k} = 0\n",
			false,
		},
	})
}

// repeat writes the examples that are about size.
func repeat(s string, n int) string { return strings.Repeat(s, n) }
