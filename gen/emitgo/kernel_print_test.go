package emitgo_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/dave/jennifer/jen"

	"github.com/nl-hecate/hecate/gen/autodiff"
	"github.com/nl-hecate/hecate/gen/emitgo"
	"github.com/nl-hecate/hecate/gen/lower"
)

func TestPrint(t *testing.T) {
	fwd, bwd, err := lower.Pair(autodiff.NewPair(deltaRule()))
	if err != nil {
		t.Fatal(err)
	}
	f := jen.NewFile("kern")
	emitgo.Kernel(f, fwd, "DeltaForward")
	emitgo.Kernel(f, bwd, "DeltaBackward")
	var b bytes.Buffer
	if err := f.Render(&b); err != nil {
		t.Fatal(err)
	}
	fmt.Println(b.String())
}
