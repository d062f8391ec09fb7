package pseudo_test

import (
	"testing"

	"github.com/nl-hecate/hecate/gen/vjpcheck/pseudo"
)

func TestParse(t *testing.T) {
	for _, c := range []struct{ text, equal string }{
		{"A @ B^T * 2", "(A @ (B^T)) * 2"},
		{"-x[i] + y", "(-(x[i])) + y"},
		{"a / b * c", "(a / b) * c"},
		{"sum_ij(A[i,j])", "sum_ij( A[i, j] )"},
		{"1_{x > 0}", "(x > 0) as f32"},
		{"w[a..a+len]", "w[a .. (a+len)]"},
	} {
		a, err := pseudo.Parse(c.text)
		b, errb := pseudo.Parse(c.equal)
		if err != nil || errb != nil || a.String() != b.String() {
			t.Errorf("%s is %v, %s is %v (%v, %v)", c.text, a, c.equal, b, err, errb)
		}
	}
	for _, bad := range []string{"", "a +", "f(a", "x[1,", "a b", "...", "a ; b"} {
		if n, err := pseudo.Parse(bad); err == nil {
			t.Errorf("%q was read as %v", bad, n)
		}
	}
}
