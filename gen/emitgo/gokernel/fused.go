package gokernel

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/dave/jennifer/jen"

	"github.com/nl-hecate/hecate/gen/emitgo/gotext"
	"github.com/nl-hecate/hecate/gen/plan"
	"github.com/nl-hecate/hecate/gen/shape"
)

// The fused arithmetic of a kernel is a second method on the same call, for
// float32 alone:
//
//	type stepFused Step[float32]
//	func (c *stepFused) run()
//
// Its text is the fused plan in Go. A region is there twice: as
// a call of a function in assembly, and as Go, which has the same bits. The
// rows of a recurrence are parts of a job, a type of their own:
//
//	type stepRows1 Step[float32]
//	func (c *stepRows1) Part(part int)

const (
	workersPath = gotext.Module + "runtime/workers"
	unsafePath  = "unsafe"
)

// A job is what the rows of a recurrence need beside the call.
type job struct {
	name   string
	batch  *plan.Loop
	row    *plan.Loop
	shared []*plan.Buffer
}

// jobs are the recurrences of a fused kernel whose rows run as parts.
func jobs(k *plan.Kernel) []*job {
	if k.Fused == nil {
		return nil
	}
	var out []*job
	plan.Walk(k.Fused.Body, func(n plan.Node) {
		batch, ok := n.(*plan.Loop)
		if !ok || batch.Kind != plan.Batch || len(batch.Body) != 1 {
			return
		}
		row, ok := batch.Body[0].(*plan.Loop)
		if !ok || row.Across == 0 {
			return
		}
		j := &job{name: fmt.Sprintf("%sRows%d", gotext.LowerFirst(k.Name), len(out)+1), batch: batch, row: row, shared: row.Shared}
		out = append(out, j)
	})
	return out
}

// sums is how many numbers the partial sums of one block of rows are.
func (j *job) sums() shape.Poly {
	var n shape.Poly
	for _, b := range j.shared {
		n = n.Add(b.Len())
	}
	return n
}

// fused prints the kernel in fused arithmetic.
func (e *kernelEmitter) fusedKernel(f *jen.File) {
	x := e.fusedEmitter()
	name := gotext.LowerFirst(e.names.Type) + "Fused"
	f.Commentf("%s is %s in fused arithmetic.", name, e.names.Type)
	f.Type().Id(name).Id(e.names.Type).Types(jen.Float32()).Line()
	f.Func().Params(jen.Id("c").Op("*").Id(name)).Id("run").Params().BlockFunc(func(g *jen.Group) {
		g.Type().Id("F").Op("=").Float32()
		x.preamble(g, e.k.Fused.Body, x.outsideJobs(e.k.Fused.Body))
		if len(e.k.Roots()) > 0 {
			g.Id("c").Dot("NoRoot").Op("=").Lit(0)
		}
		x.nodes(g, e.k.Fused.Body)
	}).Line()
	for _, j := range x.jobs {
		e.fusedEmitter().part(f, j)
	}
}

// fusedEmitter is an emitter of the fused plan with the fields of the call.
func (e *kernelEmitter) fusedEmitter() *kernelEmitter {
	x := newKernelEmitter(e.k.Fused, e.names.Type)
	x.fused, x.names, x.jobs = true, e.names, jobs(e.k)
	for _, j := range x.jobs {
		for _, b := range j.row.Private {
			x.rows[b] = true // its part has it
		}
	}
	return x
}

// outsideJobs are the nodes of a kernel without those that are printed as parts.
func (e *kernelEmitter) outsideJobs(ns []plan.Node) []plan.Node {
	return slices.DeleteFunc(slices.Clone(ns), func(n plan.Node) bool {
		l, ok := n.(*plan.Loop)
		return ok && slices.ContainsFunc(e.jobs, func(j *job) bool { return j.batch == l })
	})
}

// preamble declares the sizes that some nodes mention and the workspace that
// those mention that this function declares.
func (e *kernelEmitter) preamble(g *jen.Group, ns, here []plan.Node) {
	u := &sizeUse{used: map[string]bool{}}
	own := e.mentioned(here)
	work := e.workspace(workFields[0])
	flags, counts := e.workspace(workFields[2]), e.workspace(workFields[4])
	for _, b := range slices.Concat(work, flags, counts, e.workspace(operandField)) {
		u.poly(b.Len())
	}
	u.fused(ns)
	for _, j := range e.jobs {
		u.poly(j.sums())
		u.poly(j.row.Hi[0].Const)
		u.poly(j.batch.Hi[0].Const)
	}
	names := e.declared(u.used)
	e.declareSizes(g, names)
	for _, s := range names {
		g.Id("_").Op("=").Id(e.sizes[s])
	}
	e.cutWork(g, "Work", work, own)
	e.cutWork(g, "Flags", flags, own)
	e.cutWork(g, "Counts", counts, own)
	for _, b := range e.k.Cells {
		if own[b] {
			e.bufs[b] = e.scope.Name(b.Name, false)
			g.Id(e.bufs[b]).Op(":=").Make(jen.Index().Id("F"), jen.Lit(1))
		}
	}
}

// declared are the used sizes in the order of their declaration.
func (e *kernelEmitter) declared(used map[string]bool) []string {
	var out []string
	for _, s := range e.k.Sizes {
		if used[s] {
			out = append(out, s)
		}
	}
	for _, q := range e.k.Ceils {
		if used[q.Name] {
			out = append(out, q.Name)
		}
	}
	return out
}

// mentioned are the buffers that nodes touch.
func (e *kernelEmitter) mentioned(ns []plan.Node) map[*plan.Buffer]bool {
	out := map[*plan.Buffer]bool{}
	plan.Walk(ns, func(n plan.Node) {
		plan.EachAccess(n, func(a plan.Access) { out[storage(a.Buf)] = true })
		if z, ok := n.(*plan.Zero); ok {
			out[storage(z.Buf)] = true
		}
		if n, ok := n.(*plan.Narrow); ok {
			out[storage(n.Buf.NarrowOf)] = true
		}
	})
	return out
}

// cutWork cuts the workspace buffers out of a field, each by its own place.
func (e *kernelEmitter) cutWork(g *jen.Group, field string, own []*plan.Buffer, used map[*plan.Buffer]bool) {
	var at shape.Poly
	for _, b := range own {
		n := b.Len()
		if used[b] {
			e.bufs[b] = e.scope.Name(b.Name, false)
			from := jen.Id("c").Dot(field)
			if !at.IsZero() {
				from = from.Index(e.poly(at).Op(":"))
			}
			g.Id(e.bufs[b]).Op(":=").Add(from).Index(jen.Op(":").Add(e.poly(n))).Comment(gotext.ShapeText(b))
		}
		at = at.Add(n)
	}
}

// workEnd is where the workspace of a kernel's own ends and the partial sums of
// its jobs begin, which run one after another and share the place.
func (e *kernelEmitter) workEnd() shape.Poly {
	var at shape.Poly
	for _, b := range e.workspace(workFields[0]) {
		at = at.Add(b.Len())
	}
	return at
}

// fused counts the sizes that fused nodes mention, those in calls of regions
// among them.
func (u *sizeUse) fused(ns []plan.Node) {
	u.nodes(ns)
	plan.Walk(ns, func(n plan.Node) {
		r, ok := n.(*plan.Region)
		if !ok || r.Link == nil {
			return
		}
		for _, x := range r.Link.Ints {
			u.index(x)
		}
		for _, b := range r.Private {
			u.poly(b.Len())
		}
	})
}

// region prints a region: the call where vectors are, else its Go.
func (e *kernelEmitter) region(g *jen.Group, r *plan.Region) {
	if r.Link == nil || r.Row != nil {
		e.nodes(g, r.Body)
		return
	}
	g.If(jen.Qual(kernPath, "Wide").Call()).BlockFunc(func(g *jen.Group) {
		e.regionCall(g, r, nil, nil)
	}).Else().BlockFunc(func(g *jen.Group) {
		mark := e.scope.Mark()
		e.body(g, r.Body)
		e.scope.Release(mark)
	})
}

// regionCall prints the struct of a region's call and the call.
func (e *kernelEmitter) regionCall(g *jen.Group, r *plan.Region, rows, tail *jen.Statement) {
	mark := e.scope.Mark()
	a := e.scope.Name("a", false)
	g.Id(a).Op(":=").Add(qualified(r.Link.Package, r.Link.Func+"Args")).ValuesFunc(func(g *jen.Group) {
		field := func(kind string, i int) *jen.Statement { return g.Line().Id(kind + strconv.Itoa(i)).Op(":") }
		for i, b := range r.Link.Bufs {
			if b.Optional {
				field("P", i).Qual(kernPath, "Given").Call(e.slice(b))
				continue
			}
			field("P", i).Qual(unsafePath, "SliceData").Call(e.slice(b))
		}
		for i, x := range r.Link.Ints {
			s := e.index(x)
			field("N", i).Add(s)
		}
		for i, l := range r.Link.Scalars {
			field("S", i).Index(jen.Lit(2)).Float32().Values(jen.Id(e.locals[l]))
		}
		if r.Link.PartialVector {
			g.Line().Id("Tail").Op(":").Add(tail)
		}
		g.Line()
	})
	call := []jen.Code{jen.Op("&").Id(a)}
	if rows != nil {
		call = append(call, rows)
	}
	g.Add(qualified(r.Link.Package, r.Link.Func)).Call(call...)
	e.scope.Release(mark)
}

// qualified is a name of a package, or of the kernel's own where pkg is empty.
func qualified(pkg, name string) *jen.Statement {
	if pkg == "" {
		return jen.Id(name)
	}
	return jen.Qual(pkg, name)
}
