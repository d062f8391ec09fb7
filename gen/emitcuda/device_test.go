package emitcuda_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/nl-hecate/hecate/gen/emitcuda"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/plan"
	"github.com/nl-hecate/hecate/internal/cudashim"
)

// sourcesOf puts texts into as many sources: each text in a namespace, so that
// their constants do not meet.
func sourcesOf(texts []*emitcuda.Text, n int) []cudashim.Source {
	b := make([]strings.Builder, n)
	for i, x := range texts {
		s := &b[i%n]
		if s.Len() == 0 {
			s.WriteString("#include \"hecate.cuh\"\n")
		}
		fmt.Fprintf(s, "namespace text_%s {\n%s\n}\n", x.Name, x.Code)
		for _, l := range x.Launches {
			fmt.Fprintf(s, "using text_%s::%s;\n", x.Name, l.Function)
		}
	}
	var out []cudashim.Source
	for i := range b {
		if b[i].Len() > 0 {
			out = append(out, cudashim.Source{Name: fmt.Sprintf("part%d.cu", i), Text: b[i].String()})
		}
	}
	return out
}

// A run collects buffers and launches of kernels that follow each other.
type run struct {
	t       testing.TB
	sizes   map[string]int
	program cudashim.Program
}

// add adds a kernel. names gives the device buffer of each of its parameters;
// "" is a null pointer. Workspace gets buffers of its own.
func (r *run) add(x *emitcuda.Text, names map[*plan.Buffer]string) {
	r.t.Helper()
	all := x.Sizes(r.sizes)
	narrow := x.Defaults[emitcuda.BFloat16]
	all[emitcuda.BFloat16] = narrow
	lengths := x.Lengths(all)
	args, byBuffer := map[string]cudashim.Arg{}, map[*plan.Buffer]cudashim.Arg{}
	for _, b := range x.Buffers {
		if b.Of != nil && b.Of.Role == plan.Operand {
			continue
		}
		if b.Of != nil && b.Of.Role != plan.Work {
			args[b.Name] = cudashim.Null()
			if n := names[b.Of]; n != "" {
				args[b.Name] = cudashim.Ptr(n)
			}
			continue
		}
		args[b.Name] = cudashim.Null()
		if n, ok := lengths[b.Name]; ok {
			name := fmt.Sprintf("%s_%s", x.Name, b.Name)
			r.buffer(name, b.Elem, make([]float64, n), true)
			args[b.Name] = cudashim.Ptr(name)
		}
	}
	for _, b := range x.Buffers {
		byBuffer[b.Of] = args[b.Name]
	}
	for _, b := range x.Buffers {
		switch {
		case b.Of == nil || b.Of.Role != plan.Operand:
		case narrow == 0:
			args[b.Name] = byBuffer[b.Of.NarrowOf.Base()]
		default:
			name := fmt.Sprintf("%s_%s", x.Name, b.Name)
			stale := make([]uint16, lengths[b.Name])
			for i := range stale {
				stale[i] = 0x7fc0 // NaN
			}
			r.program.Buffers = append(r.program.Buffers, cudashim.Buffer{Name: name, Data: stale})
			args[b.Name] = cudashim.Ptr(name)
		}
	}
	for _, l := range x.Launches {
		blocks := l.Blocks(all)
		if blocks == 0 {
			continue
		}
		shared, _ := l.Shared(all)
		out := cudashim.Launch{Kernel: l.Function, Grid: cudashim.Dim{blocks}, Block: cudashim.Dim{l.Threads}, Shared: shared}
		for _, a := range l.Args {
			if a.Size != "" {
				out.Args = append(out.Args, cudashim.Int(all[a.Size]))
			} else {
				out.Args = append(out.Args, args[a.Name])
			}
		}
		r.program.Launches = append(r.program.Launches, out)
	}
}

func (r *run) eval(p interface {
	Eval(map[string]int) (int, error)
}, sizes map[string]int) int {
	r.t.Helper()
	n, err := p.Eval(sizes)
	if err != nil {
		r.t.Fatal(err)
	}
	return n
}

// buffer makes a device buffer of values; stale ones are no numbers, so that
// whoever forgets to write one is found out.
func (r *run) buffer(name string, elem ir.Elem, x []float64, stale bool) {
	b := cudashim.Buffer{Name: name}
	switch elem {
	case ir.Int:
		out := make([]int32, len(x))
		for i, v := range x {
			out[i] = int32(v)
		}
		b.Data = out
	case ir.Bool:
		out := make([]uint8, len(x))
		for i, v := range x {
			out[i] = uint8(v)
			if stale {
				out[i] = 0xFF
			}
		}
		b.Data = out
	default:
		out := make([]float32, len(x))
		for i, v := range x {
			out[i] = float32(v)
			if stale {
				out[i] = float32(math.NaN())
			}
		}
		b.Data = out
	}
	r.program.Buffers = append(r.program.Buffers, b)
}

// allSizes are the sizes of a trial with those that are quotients.
func (x *trial) allSizes() map[string]int { return x.p.fwd.Sizes(x.sizes) }
