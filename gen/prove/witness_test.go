package prove_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nl-hecate/hecate/gen/prove/witness"
	"github.com/nl-hecate/hecate/internal/vectors"
)

// witnessTol is the agreement with another implementation in float64: sums of
// up to a hundred terms in another order, by the norm of the tensor.
const witnessTol = 1e-12

// The pages must reproduce what an implementation that shares nothing with
// this compiler has computed: outputs, states and gradients.
func TestWitnesses(t *testing.T) {
	if testing.Short() {
		t.Skip("a long series")
	}
	s, all, held := specs(t, "testdata/witness.md"), witnesses(t), 0
	for _, w := range all {
		t.Run(w.Unit+"/"+w.Program+"/"+w.Prefix, func(t *testing.T) {
			n, worst, err := w.Compare(s.Tree, vectorsOf(t, w.File))
			if err != nil {
				t.Fatal(err)
			}
			if !(worst.Err <= max(witnessTol, w.Tol)) {
				t.Errorf("line %d: %v (%.1e)", w.Line, worst, worst.Err)
			}
			t.Logf("%d numbers, worst %.1e", n, worst.Err)
			held++
		})
	}
	if held == len(all) {
		t.Run("nothing is left out", everythingIsRead)
	}
}

func witnesses(t *testing.T) []*witness.Witness {
	t.Helper()
	var all []*witness.Witness
	for _, name := range []string{"testdata/witness.txt", "testdata/witness_more.txt"} {
		f, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		ws, err := witness.ReadList(f)
		f.Close()
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		all = append(all, ws...)
	}
	return all
}

var files = map[string]*vectors.File{}

// wasRead are the tensors of each file that somebody has asked for.
var wasRead = map[string]map[string]bool{}

func vectorsOf(t *testing.T, name string) witness.Vectors {
	t.Helper()
	if files[name] == nil {
		r, err := os.Open(filepath.Join("../../validation/oracle/vectors", name))
		if err != nil {
			r, err = os.Open(filepath.Join("testdata", name))
		}
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		if files[name], err = vectors.Read(r); err != nil {
			t.Fatal(err)
		}
	}
	if wasRead[name] == nil {
		wasRead[name] = map[string]bool{}
	}
	return func(n string) ([]int, []float64, bool) {
		v, ok := files[name].Lookup(n)
		if !ok {
			return nil, nil, false
		}
		wasRead[name][n] = true
		if v.Kind != vectors.Int {
			return v.Shape, v.Floats, true
		}
		data := make([]float64, len(v.Ints))
		for i, x := range v.Ints {
			data[i] = float64(x)
		}
		return v.Shape, data, true
	}
}

// A witness of knobs is about each of them; one that is about nothing says so.
func TestWitnessForms(t *testing.T) {
	list := "Matrix+L2+L2Decay+GD/Projected whole algorithms.txt gd. : M=%s > y=out.y*w M=out.M_T*wM_T"
	for _, c := range []struct{ list, want string }{
		{fmt.Sprintf(list, "state.M"), ""},
		{fmt.Sprintf(list, "~state.M"), ""},
		{fmt.Sprintf(list, "state.N"), "there is no tensor gd.state.N"},
		{strings.Replace(fmt.Sprintf(list, "state.M"), "L2+", "L3+", 1), "there is no unit L3"},
		{strings.Replace(fmt.Sprintf(list, "state.M"), "Projected", "Nothing", 1), "there is no unit Nothing"},
		{strings.Replace(fmt.Sprintf(list, "state.M"), " > ", " unit::='both > ", 1), "unit = both is outside {off, on}"},
	} {
		ws, err := witness.ReadList(strings.NewReader(c.list))
		if err != nil {
			t.Fatal(err)
		}
		if got := ws[0].Pages(); len(got) != 5 || got[3] != "GD" {
			t.Errorf("%s is about %v", ws[0].Unit, got)
		}
		n, worst, err := ws[0].Compare(specs(t).Tree, vectorsOf(t, ws[0].File))
		switch {
		case c.want == "" && (err != nil || !(worst.Err <= witnessTol) || n == 0):
			t.Errorf("%s: %d numbers, %v, %v", c.list, n, worst, err)
		case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%s: %v, want %q", c.list, err, c.want)
		}
	}
}
