package autodiff_test
import ("testing";"fmt";"github.com/nl-hecate/hecate/gen/autodiff")
func TestLook(t *testing.T) {
	p := autodiff.NewPair(deltaRule())
	fmt.Println(p.Fwd); fmt.Println(p.Bwd); fmt.Println(p.Saved)
}
