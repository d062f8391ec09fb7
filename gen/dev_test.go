package gen_test

import (
	"fmt"
	"os"
	"testing"

	"github.com/nl-hecate/hecate/gen"
	"github.com/nl-hecate/hecate/gen/autodiff"
	"github.com/nl-hecate/hecate/gen/check"
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/irbuild"
	"github.com/nl-hecate/hecate/gen/notation"
)

func TestDev(t *testing.T) {
	s, ds := gen.Load("../specs")
	fmt.Print(diag.Render(ds.Sorted()))
	for _, u := range s.Tree.Order {
		if k := os.Getenv("DEV"); k != "" && u.Name.Text != k {
			continue
		}
		switch u.Kind {
		case notation.OpUnit, notation.RuleUnit, notation.ComposeUnit, notation.ModelUnit, notation.UpdateUnit:
		default:
			continue
		}
		b, ds := check.Instantiate(s.Tree, u)
		if ds.Len() > 0 {
			fmt.Print("CHECK ", u.Name.Text, "\n", diag.Render(ds.Sorted()))
			continue
		}
		var bd diag.List
		switch u.Kind {
		case notation.OpUnit:
			f := irbuild.Op(b, &bd)
			if f != nil {
				p := autodiff.NewPair(f)
				fmt.Println("OP", u.Name.Text, "saved", p.Saved, "missing", p.Missing)
			}
		case notation.RuleUnit:
			f := irbuild.Rule(b, &bd)
			if f != nil {
				p := autodiff.NewPair(f)
				fmt.Println("RULE", u.Name.Text, "saved", p.Saved, "missing", p.Missing)
				if os.Getenv("DEV") != "" {
					fmt.Println(p.Fwd)
					fmt.Println(p.Bwd)
				}
			}
			if bd.Len() == 0 {
				irbuild.Frozen(b, &bd)
				irbuild.Start(b, &bd)
			}
		case notation.UpdateUnit:
			f := irbuild.Update(b, &bd)
			if f != nil {
				fmt.Println("UPDATE", u.Name.Text, f)
			}
		case notation.ComposeUnit, notation.ModelUnit:
			p := irbuild.Compose(b, &bd)
			if p != nil {
				fmt.Println("COMPOSE", u.Name.Text, len(p.Stages), p.Output)
				for _, s := range p.Stages {
					if s.Func != nil {
						q := autodiff.NewPair(s.Func)
						fmt.Println("   stage", q.Saved, q.Missing)
						if os.Getenv("DEV") != "" {
							fmt.Println(q.Fwd)
						}
					} else {
						fmt.Println("   call", s)
					}
				}
			}
		}
		fmt.Print(diag.Render(bd.Sorted()))
	}
}

func TestDevCompile(t *testing.T) {
	s, ds := gen.Load("../specs")
	if ds.HasErrors() {
		t.Fatal(ds.Error())
	}
	units, cd := gen.Compile(s)
	fmt.Print(diag.Render(cd.Sorted()))
	for _, u := range units {
		fmt.Println(u.Kind, u.Name, "sizes", len(u.Sizes), "weights", len(u.Weights), "states", len(u.States), "stages", len(u.Stages), "inst", len(u.Instances))
		if u.Name == os.Getenv("DEV") {
			for _, st := range u.Stages {
				if st.Fwd != nil {
					fmt.Println(st.Fwd)
					fmt.Println(st.Bwd)
				}
			}
		}
	}
}
