package prove_test

import (
	"os"
	"testing"
	"time"

	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/prove"
	"github.com/nl-hecate/hecate/gen/prove/proof"
)

// Every page of the project must be proved. UNIT=Name looks at one unit,
// DEEP=1 looks harder.
func TestPages(t *testing.T) {
	if testing.Short() {
		t.Skip("a long series")
	}
	s := specs(t)
	var reports []*proof.Report
	for _, u := range s.Tree.Order {
		if k := os.Getenv("UNIT"); k != "" && u.Name.Text != k {
			continue
		}
		at := time.Now()
		r, ds := prove.Block(s.Tree, u, proof.Options{Deep: os.Getenv("DEEP") != ""})
		reports = append(reports, r)
		if testing.Verbose() {
			t.Logf("== %s %v\n%s", u.Name.Text, time.Since(at).Round(time.Millisecond), r)
		}
		if ds.HasErrors() {
			t.Errorf("%s:\n%s", u.Name.Text, diag.Render(ds.Sorted()))
		}
		if ds.HasErrors() != (r.Worst() == proof.Failed) {
			t.Errorf("%s: the report and the messages disagree", u.Name.Text)
		}
	}
	for i, p := range s.Pages {
		if p.Header == nil || os.Getenv("UNIT") != "" {
			continue
		}
		r, ds := prove.Page(s.Files[i], header(p), reports)
		if testing.Verbose() {
			t.Logf("\n%s", r)
		}
		if ds.HasErrors() {
			t.Error(diag.Render(ds.Sorted()))
		}
	}
}
