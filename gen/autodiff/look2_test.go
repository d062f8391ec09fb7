package autodiff_test

import (
	"fmt"
	"github.com/nl-hecate/hecate/gen/autodiff"
	"testing"
)

func TestLook2(t *testing.T) {
	g := deltaRule()
	autodiff.Simplify(g)
	a := g.String()
	autodiff.Simplify(g)
	fmt.Println(a)
	fmt.Println(g)
}
