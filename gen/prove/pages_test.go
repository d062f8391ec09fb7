package prove_test

import (
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/nl-hecate/hecate/gen"
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/prove"
)

func TestPages(t *testing.T) {
	s, ds := gen.Load("../../specs")
	if ds.HasErrors() {
		t.Fatal(ds.Error())
	}
	for _, u := range s.Tree.Order {
		if k := os.Getenv("UNIT"); k != "" && u.Name.Text != k {
			continue
		}
		at := time.Now()
		r, ds := prove.Block(s.Tree, u, prove.Options{Deep: os.Getenv("DEEP") != ""})
		fmt.Printf("== %s %v\n%s", u.Name.Text, time.Since(at).Round(time.Millisecond), r)
		if ds.Len() > 0 {
			fmt.Print(diag.Render(ds.Sorted()))
		}
		if ds.HasErrors() != (r.Worst() == prove.Failed) {
			t.Errorf("%s: the report and the messages disagree", u.Name.Text)
		}
	}
}
