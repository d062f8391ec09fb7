package diag

import "strings"

// What the scanner and the parser of equations report.
const (
	BadCharacter   Code = 2001
	LookAlike      Code = 2002
	CombiningMark  Code = 2003
	RunTogether    Code = 2004
	BadNumber      Code = 2005
	OpenString     Code = 2006
	BadCite        Code = 2007
	Unclosed       Code = 2008
	Unopened       Code = 2009
	NoExpression   Code = 2010
	Unexpected     Code = 2011
	MixedOperators Code = 2012
	DivideRow      Code = 2013
	Bars           Code = 2014
	NoFunction     Code = 2015
	ReservedWord   Code = 2016
	TooDeep        Code = 2017
	TooLong        Code = 2018
	StrayStatement Code = 2019
	NoStatement    Code = 2020
	BadType        Code = 2021
	BadBinder      Code = 2022
	BadGradient    Code = 2023
	Times          Code = 2024
	HeaderDefault  Code = 2025
	Clause         Code = 2026
)

var notationCodes = map[Code]Explanation{
	BadCharacter: {Summary: "A block contains a sign that is not part of the notation: a control character, a byte that is not UTF-8, a lone dot.",
		Wrong: "op Copy(A ∈ ℝ^{n}) → out = A $ 1\n",
		Right: "op Copy(A ∈ ℝ^{n}) → out = A + 1\n"},
	LookAlike: {Summary: "A letter of a name looks like a Latin letter and is another one (here a Cyrillic А), or is a dressed-up letter such as a bold 𝐀. Two such names would look the same and be different.",
		Wrong: "op Copy(А ∈ ℝ^{n}) → out = А\n",
		Right: "op Copy(A ∈ ℝ^{n}) → out = A\n"},
	CombiningMark: {Summary: "A letter carries a mark other than the bar, or two bars. The bar marks the adjoint; every other decoration is a word.",
		Wrong: "op Copy(x̂ ∈ ℝ^{n}) → out = x̂\n",
		Right: "op Copy(x_hat ∈ ℝ^{n}) → out = x_hat\n"},
	RunTogether: {Summary: "Two words are joined without a space. A product is written with a space.",
		Wrong: "op Double(A ∈ ℝ^{n}) → out = 2A\n",
		Right: "op Double(A ∈ ℝ^{n}) → out = 2 A\n"},
	BadNumber: {Summary: "A number has two points, or does not fit in a float64.",
		Wrong: "op Grow(A ∈ ℝ^{n}) → out = 1e999 A\n",
		Right: "op Grow(A ∈ ℝ^{n}) → out = 1e99 A\n"},
	OpenString: {Summary: "A string does not end on its line.",
		Wrong: "rule Still\nnograd x \"it is an index\n",
		Right: "rule Still\nnograd x \"it is an index\"\n"},
	BadCite: {Summary: "What follows @ is not `@eq paper#eq`, `@eq paper#eq-eq` or `@eq paper#?`.",
		Wrong: "rule Still\ny_t = x_t  @eq paper 13\n",
		Right: "rule Still\ny_t = x_t  @eq paper#13\n"},
	Unclosed: {Summary: "A bracket is not closed on its logical line.",
		Wrong: "rule Still\ny_t = (x_t + 1\n",
		Right: "rule Still\ny_t = (x_t + 1)\n"},
	Unopened: {Summary: "A closing bracket has no partner, or closes another kind of bracket.",
		Wrong: "rule Still\ny_t = x_t + 1)\n",
		Right: "rule Still\ny_t = (x_t + 1)\n"},
	NoExpression: {Summary: "An operand is missing: after an operator, between two commas, before the end of a line.",
		Wrong: "rule Still\ny_t = x_t +\n",
		Right: "rule Still\ny_t = x_t + 1\n"},
	Unexpected: {Summary: "Something else was expected here. A line that starts deeper than the one above continues it, which is a frequent cause.",
		Wrong: "rule Still\n  y_t = x_t\n",
		Right: "rule Still\ny_t = x_t\n"},
	MixedOperators: {Summary: "Two different operators of · ⊙ / mod ∘ are side by side. They have one level, so parentheses say which comes first.",
		Wrong: "rule Still\ny_t = a · x_t ⊙ b\n",
		Right: "rule Still\ny_t = (a · x_t) ⊙ b\n"},
	DivideRow: {Summary: "Several factors follow /, and it is not clear which of them are in the denominator.",
		Wrong: "rule Still\ny_t = x_t / 2 d\n",
		Right: "rule Still\ny_t = x_t / (2 d)\n"},
	Bars: {Summary: "Bars are inside bars or next to bars, so it is ambiguous which of them open.",
		Wrong: "rule Still\ny_t = |a| |x_t|\n",
		Right: "rule Still\ny_t = |a| · |x_t|\n"},
	NoFunction: {Summary: "`name(a, b)` is written, but nothing with this name can be called. `name(` is a call exactly when the name is a known function or part, and otherwise a product.",
		Wrong: "rule Still\ny_t = shrink(x_t, 1)\n",
		Right: "shrink(z, a) = { z − a if z > a ; 0 otherwise }\n\nrule Still\ny_t = shrink(x_t, 1)\n"},
	ReservedWord: {Summary: "A word of the language is used as a name.",
		Wrong: "rule Still\ndims state\n",
		Right: "rule Still\ndims n_state\n"},
	TooDeep: {Summary: "Brackets, exponents or parts nest deeper than the compiler goes (200 levels).",
		Wrong: "rule Still\ny_t = " + repeat("(", 300) + "x_t" + repeat(")", 300) + "\n",
		Right: "rule Still\ny_t = (x_t)\n"},
	TooLong: {Summary: "One logical line holds more than 20,000 words and signs.",
		Wrong: "rule Still\ny_t = x_t" + repeat(" + 1", 15000) + "\n",
		Right: "rule Still\ny_t = x_t + 15000\n"},
	StrayStatement: {Summary: "A statement precedes the first header of its block. Only a function definition may.",
		Wrong: "y_t = x_t\n",
		Right: "rule Still\ny_t = x_t\n"},
	NoStatement: {Summary: "A line is neither a definition nor a statement that starts with a word of the language.",
		Wrong: "rule Still\nthe memory is copied\n",
		Right: "rule Still\ny_t = x_t  // the memory is copied\n"},
	BadType: {Summary: "What follows ∈ in a declaration is no type, or a part of a type has the wrong form.",
		Wrong: "rule Still\nstate M ∈ Matrix\n",
		Right: "rule Still\nstate M ∈ ℝ^{m×k}\n"},
	BadBinder: {Summary: "A subscript of Σ, Π, softmax or an index of a definition binds no name, or a condition precedes the first name.",
		Wrong: "rule Still\ny_t = Σ_{3 < i} x_t[i]\n",
		Right: "rule Still\ny_t = Σ_{i∈d, i > 3} x_t[i]\n"},
	BadGradient: {Summary: "∇ needs the parameter by which it differentiates and exactly one call of a scalar function.",
		Wrong: "rule Still\ny_t = ∇_M (M x_t)\n",
		Right: "ℓ(M; x) = ½ ‖M x‖²\n\nrule Still\ny_t = ∇_M ℓ(M_{t−1}; x_t)\n"},
	Times: {Summary: "× (or *) multiplies axes in a type or in dims. Values are multiplied with a space, · or ⊙.",
		Wrong: "rule Still\ny_t = 2 * x_t\n",
		Right: "rule Still\ny_t = 2 x_t\n"},
	HeaderDefault: {Summary: "A parameter of a header or a function has a default. Headers list parts; configuration values are options of the body.",
		Wrong: "front Plain(conv = 0)\n",
		Right: "front Plain\noption conv ≥ 0 = 0\n"},
	Clause: {Summary: "A declared name has two clauses of one kind, or a clause has a value of the wrong form.",
		Wrong: "rule Still\nstate M ∈ ℝ^{m×k} = 0 = 1\n",
		Right: "rule Still\nstate M ∈ ℝ^{m×k} = 0\n"},
}

// repeat writes the examples that are about size.
func repeat(s string, n int) string { return strings.Repeat(s, n) }
