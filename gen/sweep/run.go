package sweep

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"runtime"
	"strings"
	"sync/atomic"
	"time"

	"github.com/nl-hecate/hecate/gen"
	"github.com/nl-hecate/hecate/gen/abi"
	"github.com/nl-hecate/hecate/gen/cache"
	"github.com/nl-hecate/hecate/gen/check"
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/emitgo"
	"github.com/nl-hecate/hecate/gen/irbuild"
	"github.com/nl-hecate/hecate/gen/notation"
	"github.com/nl-hecate/hecate/gen/prove"
	"github.com/nl-hecate/hecate/gen/prove/proof"
	"github.com/nl-hecate/hecate/gen/prove/sample"
	"github.com/nl-hecate/hecate/gen/safety"
	"github.com/nl-hecate/hecate/gen/synth"
	"github.com/nl-hecate/hecate/internal/parallel"
)

// A Sweep says which combinations of the knobs are compiled, proved and run, and how.
type Sweep struct {
	gen.Config
	Over  string              // the front; a combination that it does not fit takes the first of the tree that does
	Width int                 // of everything, in the runs
	Steps []int               // horizons: multiples of 50, growing
	Only  func(string) bool   // combinations by their formula; nil for all
	Until time.Time           // no combination is begun after it; zero for no end
	Store string              // file of the rows
	Seen  func(done, all int) // called as rows come, from several goroutines; may be nil
}

// sweepEntries is the number of entries of each input, parameter and first state that are
// compared with finite differences, at each of the proof's sizes: all of a small one, and
// few enough of a larger one to do thousands of combinations in an hour.
const sweepEntries = 16

// A sweeper is a sweep under way.
type sweeper struct {
	Sweep
	printed map[string]bool // combinations whose Go and assembly are printed too
	src     *gen.Source
	table   *safety.Table
	over    *notation.Apply
	todo    []safety.Tuple
	key     string // of everything but the combination
	store   *Store
}

// Run goes over all legal combinations of the knobs on all cores: each is
// compiled to plans, proved in float64 and run. Of a set in which every two knobs meet
// the Go and the assembly are printed too. Rows of the store about the same pages by the
// same compiler are not computed again. left counts the combinations for which there was
// no time.
func (w Sweep) Run() (sum Summary, left int, ds diag.List, err error) {
	sw := &sweeper{Sweep: w}
	if ds = sw.load(&sum); ds.HasErrors() {
		return sum, 0, ds, nil
	}
	if sw.store, err = Open(w.Store); err != nil {
		return sum, 0, ds, err
	}
	rows, err := sw.rows()
	for _, r := range rows {
		if r == nil {
			left++
			continue
		}
		sum.Rows = append(sum.Rows, *r)
	}
	return sum, left, ds, errors.Join(err, sw.store.Close())
}

// load reads the pages, the front and the table of the knobs.
func (w *sweeper) load(sum *Summary) (ds diag.List) {
	if w.src, ds = w.Load(); ds.HasErrors() {
		return ds
	}
	table, td := safety.New(w.src.Tree)
	if ds.Append(td); ds.HasErrors() {
		return ds
	}
	w.table = table
	for _, t := range table.Tuples() {
		sum.Combinations++
		if t.Legal() {
			sum.Legal++
			if w.Only == nil || w.Only(t.String()) {
				w.todo = append(w.todo, t)
			}
		}
	}
	w.printed = map[string]bool{}
	for _, t := range table.Covering() {
		w.printed[t.String()] = true
	}
	ds.Append(w.front())
	w.key = w.keyOf()
	return ds
}

// front reads the front from its text, as part of a rule that no page has.
func (w *sweeper) front() diag.List {
	with, ds := w.Config.Load(synth.Formula{Name: "Swept", Over: w.Over}.Page(""))
	if ds.HasErrors() {
		return ds
	}
	w.over = with.Tree.Units["Swept"].Formula.Over
	var first diag.List
	for _, t := range w.todo {
		bad := w.builds(t, w.over)
		if !bad.HasErrors() {
			return diag.List{}
		}
		if first.Len() == 0 {
			first = bad
		}
	}
	return first
}

// keyOf is the key of a row without its combination: the compiler, the pages, the runs.
func (w *sweeper) keyOf() string {
	h := sha256.New()
	fmt.Fprintln(h, cache.ExecutableVersion(), w.Over, w.Width, w.Steps)
	for _, p := range w.src.Pages {
		fmt.Fprintf(h, "%d\n%s", len(p.File.Text), p.File.Text)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// rows makes a row of each combination; nil is one that there was no time for.
func (w *sweeper) rows() ([]*Row, error) {
	rows, errs := make([]*Row, len(w.todo)), make([]error, len(w.todo))
	var done atomic.Int64
	parallel.Each(len(rows), runtime.GOMAXPROCS(0), func(i int) {
		if rows[i], errs[i] = w.stored(w.todo[i]); rows[i] != nil && w.Seen != nil {
			w.Seen(int(done.Add(1)), len(rows))
		}
	})
	return rows, errors.Join(errs...)
}

// stored is the row of a combination from the store, or a new one.
func (w *sweeper) stored(t safety.Tuple) (*Row, error) {
	k := sha256.Sum256([]byte(w.key + t.String()))
	key := hex.EncodeToString(k[:])
	if r, ok := w.store.Row(key); ok {
		return &r, nil
	}
	if !w.Until.IsZero() && time.Now().After(w.Until) {
		return nil, nil
	}
	r := w.row(t)
	r.Key = key
	return &r, w.store.Add(r)
}

// row compiles, proves and follows one combination.
func (w *sweeper) row(t safety.Tuple) (r Row) {
	r.Knobs = t.Names()
	defer func() {
		if p := recover(); p != nil {
			r.Problem, r.Fact = diag.Internal.String(), fmt.Sprint(p)
		}
	}()
	over, bad := w.fits(t)
	if bad.HasErrors() {
		w.attribute(&r, bad)
		return r
	}
	r.Over = notation.Print(over, notation.Unicode)
	u := &notation.Unit{Span: t.Knobs[0].Span, Kind: notation.RuleUnit, Formula: t.Formula(over),
		Name: notation.Word{Span: t.Knobs[0].Name.Span, Text: strings.Join(t.Names(), "")}}
	rep, bad := prove.Block(w.src.Tree, u, proof.Options{Entries: sweepEntries})
	r.Proved, r.Tested = rep.Count(proof.Proved), rep.Count(proof.Tested)
	for _, it := range rep.Items {
		if it.Kind == proof.OuterGradient || it.Kind == proof.InnerGradient {
			r.Points, r.Worst = r.Points+it.Points, math.Max(r.Worst, it.Worst)
		}
	}
	w.attribute(&r, bad)
	pu, bad := gen.CompileUnit(w.src, u)
	if w.attribute(&r, bad); bad.HasErrors() {
		return r
	}
	if w.printed[t.String()] {
		pu.Home = abi.Home{Folder: "swept", Package: "swept"}
		gen.Assembly(emitgo.KernelFiles([]*abi.Unit{pu}), gen.RegionPackage(pu.Home))
		emitgo.Unit(pu, nil)
	}
	b, _ := check.Instantiate(w.src.Tree, u)
	trajectories, bad := sample.Follow(b, w.Width, w.Steps, GateNear)
	w.attribute(&r, bad)
	for _, c := range trajectories {
		r.Horizons = append(r.Horizons, horizon(c))
	}
	return r
}

// fits is the front of a combination.
func (w *sweeper) fits(t safety.Tuple) (*notation.Apply, diag.List) {
	bad := w.builds(t, w.over)
	if !bad.HasErrors() {
		return w.over, bad
	}
	for _, f := range w.table.Fronts() {
		over := &notation.Apply{Span: f.Name.Span, Name: f.Name}
		if other := w.builds(t, over); !other.HasErrors() {
			return over, other
		}
	}
	return nil, bad
}

// builds returns the errors of a combination over a front.
func (w *sweeper) builds(t safety.Tuple, over *notation.Apply) diag.List {
	b, ds := w.table.Block(t, over)
	if !ds.HasErrors() {
		irbuild.Rule(b, &ds)
	}
	return ds
}

// attribute keeps the first error about a combination. That a proof's random
// parameters, which are no start of any page, lead to no numbers is no error of
// the combination: whether its own start does is seen when it is followed.
func (w *sweeper) attribute(r *Row, ds diag.List) {
	for _, d := range ds.Sorted() {
		switch {
		case d.Severity != diag.Error:
		case d.Code == diag.NotFinite:
			r.Unstable = true
		case r.Problem == "":
			r.Problem, r.Fact = d.Code.String(), d.Text
		}
	}
}

// horizon is a trajectory as a row has it.
func horizon(c sample.Snapshot) Horizon {
	h := Horizon{Steps: c.Steps, Finite: c.Finite, Output: number(c.Output), Spread: number(c.Spread)}
	for _, s := range c.States {
		h.State = math.Max(h.State, number(s.X))
		if !(s.X >= StateFloor) && h.Zero == "" {
			h.Zero = s.Name
		}
	}
	for _, g := range c.Gates {
		if h.Gate == "" || g.X > h.Share {
			h.Gate, h.Share = g.Name, g.X
		}
	}
	return h
}

// number is a float64 that JSON can hold.
func number(x float64) float64 {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return math.MaxFloat64
	}
	return x
}
