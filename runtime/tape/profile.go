package tape

import (
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/nl-hecate/hecate/runtime/num"
)

// A Profile measures how long the nodes of an arena's tapes take: of the forward the time
// from the recording of a node to that of the next, of the backward its Backward. The unit
// of a node is the one that was entered last before it was recorded. Without an
// Arena.Profile nothing is measured.
type Profile struct {
	rows    map[profileKey]*Spent
	unit    string
	from    time.Time // of the node that was recorded last
	pending *Spent
	nodes   []*Spent // by node of the present tape
}

type profileKey struct {
	unit string
	node reflect.Type
}

// Spent is the time of one operation of one unit, over all scopes.
type Spent struct {
	Unit      string // "block.0.attention"; "" is the model itself
	Operation string // package.kernel: "slidingwindow.out"
	Calls     int
	Forward   time.Duration
	Backward  time.Duration
	Update    time.Duration // outside of any tape
}

// Enter says which unit records from now on.
func (p *Profile) Enter(unit string) { p.unit = unit }

// Rows are the times so far, those that took longest first.
func (p *Profile) Rows() []Spent {
	var out []Spent
	for _, s := range p.rows {
		out = append(out, *s)
	}
	slices.SortFunc(out, func(a, b Spent) int {
		if d := int(b.Forward + b.Backward - a.Forward - a.Backward); d != 0 {
			return d
		}
		return strings.Compare(a.Unit+a.Operation, b.Unit+b.Operation)
	})
	return out
}

// begin opens a scope.
func (p *Profile) begin() { p.unit, p.pending, p.nodes = "", nil, p.nodes[:0] }

// record ends the time of the node before and begins that of node.
func (p *Profile) record(node any) {
	p.end()
	k := profileKey{p.unit, reflect.TypeOf(node)}
	s := p.rows[k]
	if s == nil {
		s = &Spent{Unit: p.unit, Operation: nodeName(k.node.Elem())}
		if p.rows == nil {
			p.rows = map[profileKey]*Spent{}
		}
		p.rows[k] = s
	}
	s.Calls++
	p.nodes = append(p.nodes, s)
	p.pending, p.from = s, time.Now()
}

// end ends the time of the node that was recorded last.
func (p *Profile) end() {
	if p.pending != nil {
		p.pending.Forward += time.Since(p.from)
		p.pending = nil
	}
}

// reverse runs the backward of node i.
func reverse[F num.Float](p *Profile, t *Tape[F], i int) {
	from := time.Now()
	t.nodes[i].Backward(t)
	p.nodes[i].Backward += time.Since(from)
}

// nodeName is the name of a type of nodes: package.kernel.
func nodeName(t reflect.Type) string {
	name, _, _ := strings.Cut(t.String(), "[")
	return strings.TrimSuffix(name, "Node")
}
