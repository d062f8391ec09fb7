package abi

// Choices are the knobs of a memory rule and what each requires of the others:
// the one table of which combinations are legal. A combination takes one value
// of each slot.
type Choices struct {
	Slots []Slot
	Needs []Need
}

// A Slot is a place in the formula of a rule.
type Slot struct {
	Word   string // structure, bias, …
	Values []Choice
}

// A Choice is one value of a slot.
type Choice struct {
	Name string // as the page writes it
	Page string
	Doc  string // what its contract says it is for
}

// A Need says that a value of one slot is legal only with some values of another.
type Need struct {
	Slot   int    // of the value that requires
	By     string // the value
	Of     int    // the slot that decides
	Mark   string // the property, such as ProbabilitySimplex
	Reason string // the page's sentence
	Meets  []string
}
