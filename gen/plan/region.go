package plan

import "github.com/nl-hecate/hecate/gen/shape"

// A Region is a part of a kernel that a target may compile to a function of
// its own, such as one in assembly. Dividing a kernel into regions changes no
// bit.
//
// A region inside the rows of a recurrence runs for several rows at once, Row
// being the first; then Private are the buffers of each row, whose layout the
// target chooses.
type Region struct {
	Name    string // unique in its kernel
	Row     *Var
	Across  Across
	Private []*Buffer
	Body    []Node
	Link    *Link // nil where no target has a function for it
}

func (*Region) node() {}

// A Link is the calling convention of a region's functions: a pointer to a
// struct Func+"Args" with pointers P0, P1, … to the first entries of buffers, integers
// N0, N1, … that the call knows, scalars S0, S1, … from outside, and with rows in vector
// lanes Tail, the number of rows in the last vector; in this order, eight bytes each.
type Link struct {
	Package       string // import path of the functions' package, "" where it is the kernel's
	Func          string // the function that calls the one of the active target
	Bufs          []*Buffer
	Ints          []Index
	Scalars       []*Local
	PartialVector bool
	Targets       []Target
}

// A Target is an instruction set with functions of its own for a region. Rows
// are the numbers of rows that they take at once, largest first; Width is the
// number of lanes of a vector.
type Target struct {
	Name, Suffix string
	Width        int
	Rows         []int
}

// Across is the dimension that the lanes of a vector run over; the zero value
// is invalid for a region.
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

// InnerVars are the variables of the region's own loops and gathers, outermost
// first.
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

// A Next sets a variable to the following iteration of the loop around it, or
// to the present one in the last iteration. Targets use it for software
// pipelining; lowering makes none.
type Next struct{ To, Of *Var }

func (*Next) node() {}

// A Stream is the affine access of a region to a buffer: entry Base + Σ
// Stride·Var, Base being known when the region is called.
type Stream struct {
	Buf    *Buffer // the base
	Base   Index
	Vars   []*Var // of the region, the row among them
	Stride []shape.Poly
}

// StreamOf returns the stream of an access to a buffer that is not private.
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

// A KernelFile is a file that kernels are printed to.
type KernelFile struct {
	Path    string // without its ending
	Kernels []*Kernel
}
