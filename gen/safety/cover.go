package safety

// Combinations grow with the product of the slots, and making a rule of every
// one takes minutes where there are thousands. What goes wrong between pages
// goes wrong between two of them: names that both have, a state that one starts
// and the other cannot take, axes that one asks for and the other has not. So
// the compiler makes rules of a covering set, in which any two knobs that stand
// together in a legal combination stand together once. A test makes all.

// Covering is a set of the legal combinations in which every two knobs that any
// legal combination has are together at least once.
func (t *Table) Covering() []Tuple {
	var legal []Tuple
	open := map[[2]string]bool{}
	for _, c := range t.Tuples() {
		if c.Legal() {
			legal = append(legal, c)
			for _, p := range c.pairs() {
				open[p] = true
			}
		}
	}
	var out []Tuple
	for len(open) > 0 {
		best, most := Tuple{}, 0
		for _, c := range legal {
			n := 0
			for _, p := range c.pairs() {
				if open[p] {
					n++
				}
			}
			if n > most {
				best, most = c, n
			}
		}
		for _, p := range best.pairs() {
			delete(open, p)
		}
		out = append(out, best)
	}
	return out
}

// pairs are the knobs of a combination, two by two; names are used once in a
// tree.
func (t Tuple) pairs() [][2]string {
	var out [][2]string
	for i, u := range t.Knobs {
		for _, v := range t.Knobs[i+1:] {
			out = append(out, [2]string{u.Name.Text, v.Name.Text})
		}
	}
	return out
}
