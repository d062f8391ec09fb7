package plan

import "github.com/nl-hecate/hecate/gen/shape"

// A Region is a part of a kernel that a target may give to a function of its
// own, such as one in assembly. It means what its Body means; whether and how
// it is taken apart changes no bit.
//
// A region inside the rows of a recurrence runs for several rows at once, Row
// being the first of them; then Private are the buffers of each row, whose
// layout is the target's.
type Region struct {
	Name    string // unique in its kernel
	Row     *Var
	Across  Across
	Private []*Buffer
	Body    []Node
	Link    *Link // nil where no target has a function for it
}

func (*Region) node() {}

// A Link is how a region's functions are called: with a pointer to a struct of
// the first entries of buffers, whole numbers that the call knows, scalars from
// outside, and with rows side by side the number of rows in the last vector, in
// this order, eight bytes each.
type Link struct {
	Func          string // what the functions of all levels are called by
	Bufs          []*Buffer
	Ints          []Index
	Scalars       []*Local
	PartialVector bool
	Targets       []Target
}

// A Target is a level of vector units with functions of its own for a region.
// Rows are the numbers of rows that they take at once, largest first; in a
// vector lie Width numbers.
type Target struct {
	Name, Suffix string
	Width        int
	Rows         []int
}

// Across says what lies side by side in a vector; the zero value is invalid for
// a region.
type Across int

const (
	_       Across = iota
	Columns        // entries that the innermost loops run over
	Rows           // rows of a recurrence
)

func (a Across) String() string { return [...]string{"nothing", "columns", "rows"}[a] }

// IsPrivate reports whether a buffer belongs to one row of the region.
func (r *Region) IsPrivate(b *Buffer) bool {
	for _, p := range r.Private {
		if p == b.Base() {
			return true
		}
	}
	return false
}

// InnerVars are the variables of the region's own loops and picks, outermost first.
func (r *Region) InnerVars() []*Var {
	var out []*Var
	Walk(r.Body, func(n Node) {
		switch n := n.(type) {
		case *Loop:
			out = append(out, n.Var)
		case *Gather:
			out = append(out, n.To)
		case *Next:
			out = append(out, n.To)
		}
	})
	return out
}

// A Next sets a variable to the iteration after the present one of the loop
// around it, or to the present one where it is the last. Targets use it to do a
// part of an iteration ahead; no plan has it before.
type Next struct{ To, Of *Var }

func (*Next) node() {}

// A Stream is how a region walks a buffer: entry Base + Σ Stride·Var of it,
// Base known when the region is called.
type Stream struct {
	Buf    *Buffer // the base
	Base   Index
	Vars   []*Var // of the region, the row among them
	Stride []shape.Poly
}

// StreamOf returns the stream of an access that is no row's own.
func (r *Region) StreamOf(a Access) Stream {
	s := Stream{Buf: a.Buf.Base(), Base: a.Flat()}
	vars := r.InnerVars()
	if r.Row != nil {
		vars = append([]*Var{r.Row}, vars...)
	}
	for _, v := range vars {
		c := s.Base.Coef(v)
		if c.IsZero() {
			continue
		}
		s.Vars, s.Stride = append(s.Vars, v), append(s.Stride, c)
		if v != r.Row { // the first row is known at the call
			s.Base = s.Base.Subst(v, Index{})
		}
	}
	return s
}

// StrideOf is the stride of a stream over a variable.
func (s Stream) StrideOf(v *Var) shape.Poly {
	for i, x := range s.Vars {
		if x == v {
			return s.Stride[i]
		}
	}
	return shape.Poly{}
}

// A KernelFile asks for the functions of kernels in one file.
type KernelFile struct {
	Path    string // without its ending
	Package string
	Source  string // the page
	Kernels []*Kernel
}
