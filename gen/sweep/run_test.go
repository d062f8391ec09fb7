package sweep_test

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/nl-hecate/hecate/gen"
	"github.com/nl-hecate/hecate/gen/sweep"
)

// blowPage has an algorithm that goes up and a retention that keeps nothing.
const blowPage = "# Blow\n\n```text\nCONTRACT\n  Purpose: Degenerate.\n  Expects: Nothing\n  Guarantees: Nothing\n  Cost: None\n" +
	"  Trade-off: None\n  Position: here\n  Source: none\n```\n\n```hecate\nalgorithm Climb\nstep(G) = 90 θ_t G\n\nretention Blank\njoin(Z, U; ρ, θ) = 0 ρ Z + 0 U\n```\n"

// TestSweep goes over a few combinations, twice: what blows up and what stays at
// zero is found, and the second time nothing is computed.
func TestSweep(t *testing.T) {
	if testing.Short() {
		t.Skip("a long series")
	}
	dir := t.TempDir()
	pages := filepath.Join(dir, "pages")
	if err := os.Mkdir(pages, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(pages, "blow.md"), []byte(blowPage), 0o644); err != nil {
		t.Fatal(err)
	}
	w := sweep.Sweep{Config: gen.Config{Specs: []string{"../../specs", pages}}, Over: "Projected(unit = on)", Width: 8, Steps: []int{100, 300}, Store: filepath.Join(dir, "rows.jsonl"),
		Only: func(s string) bool {
			rest, ok := strings.CutPrefix(s, "Matrix + L2 + ")
			keep, step, _ := strings.Cut(rest, " + ")
			return ok && (keep == "L2Decay" || keep == "Blank") && (step == "GD" || step == "Climb")
		}}
	sum, left, ds, err := w.Run()
	if err != nil || ds.HasErrors() || left > 0 {
		t.Fatal(left, err, ds.Error())
	}
	want := map[string]string{"Matrix + L2 + L2Decay + GD": "", "Matrix + L2 + L2Decay + Climb": "unbounded",
		"Matrix + L2 + Blank + GD": "state M is zero within 100", "Matrix + L2 + Blank + Climb": "state M is zero within 100"}
	for _, r := range sum.Rows {
		d := r.Degenerate()
		if w, ok := want[r.Name()]; !ok || (w == "") != (d == "") || w != "unbounded" && !strings.Contains(d, w) {
			t.Errorf("%s: %q, want %q", r.Name(), d, w)
		}
		if strings.Contains(r.Name(), "L2Decay + GD") && (r.Problem != "" || r.Points == 0 || !(r.Worst <= 1e-6) || len(r.Horizons) != 2) {
			t.Errorf("%+v", r)
		}
		delete(want, r.Name())
	}
	if len(want) > 0 {
		t.Errorf("not looked at: %v", want)
	}
	w.Until = time.Now().Add(-time.Hour) // nothing new may be begun
	again, left, _, err := w.Run()
	if err != nil || left > 0 || !reflect.DeepEqual(sum, again) {
		t.Errorf("again: %d left, %v\n%+v\n%+v", left, err, sum, again)
	}
	w.Width, w.Only = 7, nil
	if _, left, _, _ = w.Run(); left == 0 {
		t.Error("rows of another width were taken")
	}
	w.Over = "Projected(size = 2)"
	if _, _, ds, _ := w.Run(); !strings.Contains(ds.Error(), "there is no option size") {
		t.Errorf("a front with a wrong option: %s", ds.Error())
	}
}
