package main

import (
	"context"
	"testing"
)

// TestFlagshipsStayFinite builds each of the nine rules in each of four compositions at a
// rate more than ten times that of the update's page, and wants numbers at the end.
func TestFlagshipsStayFinite(t *testing.T) {
	if testing.Short() {
		t.Skip("builds 36 models")
	}
	d, err := text()
	if err != nil {
		t.Fatal(err)
	}
	d.ids = d.ids[:512] // the figure is not what is asked
	for _, b := range flagshipBuilds(0.05, 8, []int{200}) {
		_, marks, err := b.run(context.Background(), d)
		if err != nil {
			t.Fatal(err)
		}
		if m := marks[len(marks)-1]; m.bad != nil {
			t.Errorf("%s: %v", b.formula, m.bad)
		} else if !(m.most <= stateBound) {
			t.Errorf("%s: the root mean square of a state is %g", b.formula, m.most)
		}
	}
}
