package prove_test

import (
	"strings"
	"testing"

	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/prove"
	"github.com/nl-hecate/hecate/gen/prove/proof"
	"github.com/nl-hecate/hecate/gen/source"
)

// proveText proves a text: a whole page, or the content of one block.
func proveText(text string, page bool) ([]*proof.Report, diag.List) {
	if !page {
		text = "# Page\n\n```text\nCONTRACT\n  Purpose: a test\n  Expects: nothing\n  Guarantees: nothing\n  Cost: none\n" +
			"  Trade-off: none\n  Position: page.md\n  Source: none\n```\n\n```hecate\n" + text + "```\n"
	}
	s, ds := load(source.NewFile("page.md", text))
	var out []*proof.Report
	for _, u := range s.Tree.Order {
		r, pd := prove.Block(s.Tree, u, proof.Options{})
		out = append(out, r)
		ds.Append(pd)
	}
	for i, p := range s.Pages {
		if p.Header != nil {
			r, pd := prove.Page(s.Files[i], header(p), out)
			out = append(out, r)
			ds.Append(pd)
		}
	}
	return out, ds
}

func TestCodes(t *testing.T) {
	for _, c := range diag.Codes() {
		if c < diag.InnerGradientDiffers || c > diag.ErratumUnbacked {
			continue
		}
		e, _ := diag.Explain(c)
		t.Run(c.String(), func(t *testing.T) {
			reports, ds := proveText(e.Wrong, e.Page)
			n := 0
			for _, d := range ds.Sorted() {
				if d.Code == c {
					n++
					if d.Span.IsZero() || d.Span.Text() == "" {
						t.Errorf("%v points nowhere", c)
					}
				} else if d.Severity == diag.Error && d.Code > diag.MissingField {
					t.Errorf("the wrong example also gives %v: %s", d.Code, d.Text)
				}
			}
			if n == 0 {
				t.Errorf("the wrong example does not give %v: %s", c, ds.Error())
			}
			bad := false
			for _, r := range reports {
				bad = bad || r.Worst() == proof.Failed
			}
			if !bad {
				t.Errorf("no report has a failed item")
			}
			if testing.Verbose() {
				t.Log(ds.Error())
			}
			reports, ds = proveText(e.Right, e.Page)
			if ds.HasErrors() {
				t.Errorf("the right example gives %s", ds.Error())
			}
			for _, r := range reports {
				if r.Worst() == proof.Failed {
					t.Errorf("the right example fails:\n%s", r)
				}
			}
			if !strings.HasSuffix(e.Wrong, "\n") || !strings.HasSuffix(e.Right, "\n") {
				t.Errorf("an example ends without a newline")
			}
		})
	}
}

// TestBeyondFloat32: what float64 still holds and the kernels do not is not finite.
func TestBeyondFloat32(t *testing.T) {
	for text, want := range map[string]bool{"1e20 (1e20 x)": true, "1e15 (1e15 x)": false} {
		_, ds := proveText("op Far(x ∈ ℝ^{n}) → out = "+text+"\n", false)
		if got := strings.Contains(ds.Error(), "out of Far overflows float32"); got != want {
			t.Errorf("%s: %s", text, ds.Error())
		}
	}
}

// TestOverflow: what overflows only at large numbers is tested at smaller ones, and
// the report says so; what is undefined is refused wherever it is.
func TestOverflow(t *testing.T) {
	reports, ds := proveText("op Grow(x ∈ ℝ^{n}) → out = exp(200 x)\nclaim x̄ = 200 out̄ ⊙ exp(200 x)\n", false)
	if ds.HasErrors() || !strings.Contains(reports[0].String(), "of the usual size, beyond which numbers overflow float32") {
		t.Errorf("%s\n%s", ds.Error(), reports[0])
	}
	_, ds = proveText("op Hole(x ∈ ℝ^{n}) → out = log(0.3 − x ⊙ x)\n", false)
	if got := ds.Error(); !strings.Contains(got, "HEC5017: out of Hole is not a number for input that the page allows") {
		t.Error(got)
	}
}

// TestUnsettled: an entry at which differences disagree with one another, or have
// no digits left, proves nothing, and where most are such the program counts as
// not tested.
func TestUnsettled(t *testing.T) {
	for _, text := range []string{"sin(1e9 x)", "1e20 + x"} {
		_, ds := proveText("op Steep(x ∈ ℝ^{n}) → out = "+text+"\n", false)
		if got := ds.Error(); !strings.Contains(got, "that no finite difference can test them") {
			t.Errorf("%s: %s", text, got)
		}
	}
}

// TestAdjointBeyond: an adjoint that is no number is an error in every place,
// not only at the entries that are held to differences.
func TestAdjointBeyond(t *testing.T) {
	_, ds := proveText("op Edge(x ∈ ℝ^{n}) → out = sin(1e39 x)\n", false)
	if got := ds.Error(); !strings.Contains(got, "the adjoint of x of Edge overflows float32") {
		t.Error(got)
	}
}

// TestWildLoss: an inner gradient that is no number is not called wrong.
func TestWildLoss(t *testing.T) {
	_, ds := proveText("rule Wild\ndims d\ninput x ∈ ℝ^{d}\nstate M ∈ ℝ^{d} = 0\nℓ(M ∈ ℝ^{d}; x ∈ ℝ^{d}) = exp(200 + x · x + M · M)\nM_t = M_{t−1} − ∇_M ℓ(M_{t−1}; x_t)\ny_t = M_t\n", false)
	got := ds.Error()
	if !strings.Contains(got, "∇_M ℓ(M_{t−1}; x_t) of Wild overflows float32") || strings.Contains(got, diag.InnerGradientDiffers.String()) {
		t.Error(got)
	}
}
