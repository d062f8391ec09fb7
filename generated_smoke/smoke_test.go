package smoke

import (
	"fmt"
	"os"
	"testing"

	"github.com/nl-hecate/hecate/generated/registry"
	"github.com/nl-hecate/hecate/internal/vectors"
	"github.com/nl-hecate/hecate/runtime/block"
	"github.com/nl-hecate/hecate/runtime/context"
	"github.com/nl-hecate/hecate/runtime/pulse"
	"github.com/nl-hecate/hecate/runtime/tape"
)

func TestZero(t *testing.T) {
	for _, c := range []struct{ model, file string }{{"ZeroA", "zero_a_small"}, {"ZeroB", "zero_b_small"}} {
		f, err := os.Open("../oracle/vectors/" + c.file + ".txt")
		if err != nil {
			t.Fatal(err)
		}
		v, err := vectors.Read(f)
		if err != nil {
			t.Fatal(err)
		}
		sizes := map[string]int{"V": 16, "d": 8, "attention.H": 2, "attention.w": 3, "attention.n_p": 0}
		if c.model == "ZeroB" {
			sizes["memory.d_k"] = 8
		}
		m, err := registry.NewModel[float64](c.model, block.NewSizes(sizes))
		if err != nil {
			t.Fatal(err)
		}
		var set context.ParamSet[float64]
		if err := m.Declare(&set, ""); err != nil {
			t.Fatal(err)
		}
		view := set.View()
		for i := range view.Len() {
			if len(view.Data(i)) == 0 {
				continue
			}
			x, ok := v.Lookup(view.Param(i).Name)
			if !ok {
				t.Fatal("no", view.Param(i).Name)
			}
			copy(view.Data(i), x.Floats)
		}
		mem := m.NewMemory(1)
		ids, _ := v.Lookup("ids")
		tg, _ := v.Lookup("targets")
		loss, _ := v.Lookup("loss")
		var arena tape.Arena[float64]
		arena.Debug = true
		p := pulse.First(pulse.Build, 1)
		for ch := 0; ch < 3; ch++ {
			var id, nx []int32
			for i := 0; i < 8; i++ {
				id = append(id, int32(ids.Ints[ch*8+i]))
				nx = append(nx, int32(tg.Ints[ch*8+i]))
			}
			err := tape.With(&arena, p, func(r *tape.Run[float64]) error {
				w := block.Bind(r, view)
				l, _, err := m.Step(block.Call[float64]{Run: r, Pulse: p, Lanes: 1, Steps: 8}, w, mem, id, nx)
				if err != nil {
					return err
				}
				fmt.Println(c.model, ch, l.Data[0], loss.Floats[ch], l.Data[0]-loss.Floats[ch])
				if err := r.Tape.Backward(l); err != nil {
					return err
				}
				if ch == 2 {
					worst := 0.0
					r.Tape.Params(func(name string, g []float64) {
						if name == "attention.P" {
							return
						}
						want, ok := v.Lookup("grad." + name)
						if !ok {
							t.Error("no grad", name)
							return
						}
						mx := 0.0
						for i := range want.Floats {
							if g != nil {
								d := g[i] - want.Floats[i]
								if d < 0 {
									d = -d
								}
								if d > mx {
									mx = d
								}
							}
						}
						if mx > 1e-12 {
							fmt.Println("DIFF", name, mx, g == nil)
						}
						for i := range want.Floats {
							var x float64
							if g != nil {
								x = g[i]
							}
							d := x - want.Floats[i]
							if d < 0 {
								d = -d
							}
							if !(d <= worst) {
								worst = d
							}
						}
					})
					fmt.Println("worst", worst)
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			mem.Keep()
			p = p.Next(8)
		}
	}
}
