package autodiff_test

import (
	"fmt"
	"github.com/nl-hecate/hecate/gen/autodiff"
	"testing"
)

func TestLook(t *testing.T) {
	p := autodiff.NewPair(deltaRule())
	fmt.Println(p.Fwd)
	fmt.Println(p.Bwd)
	fmt.Println(p.Saved)
}
