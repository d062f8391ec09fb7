package program_test

import (
	"slices"
	"testing"

	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/irbuild/program"
)

func parse(t *testing.T, text string) *ir.Func {
	t.Helper()
	f, err := ir.Parse(text)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return f
}

func TestCuts(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want []string
	}{
		"a state is carried from call to call": {`func f(x: input real[L, T, d], h: state real[L, d]) {
  axes L, T, d
  scan f.step over L, T as @1 {
    carry h [d] from h to h.next [L, d]
    token x [d] from x
    h.2 [d] = lin i:d : h[i] + x[i]
    next h = h.2
    give y [L, T, d] = h.2
  }
  return y = y
  return state h = h.next
}`, nil},
		"a state begins with each call": {`func f(x: input real[L, T, d]) {
  axes L, T, d
  zero [L, d] = const i:L j:d : 0
  scan f.step over L, T as @1 {
    carry h [d] from zero to h.next [L, d]
    token x [d] from x
    h.2 [d] = lin i:d : h[i] + x[i]
    next h = h.2
    give y [L, T, d] = h.2
  }
  return y = y
}`, []string{"h begins anew with every call"}},
		"a state is read where the call began": {`func f(x: input real[L, T, d], h: state real[L, d]) {
  axes L, T, d
  y [L, T, d] = lin i:L j:T k:d : x[i, j, k] + h[i, k]
  last [L, d] = prod i:L j:d : 0.5 h[i, j]
  return y = y
  return state h = last
}`, []string{"h is read as the call found it"}},
		"a state is read that nothing writes": {`func f(x: input real[L, T, d], h: state real[L, d]) {
  axes L, T, d
  y [L, T, d] = lin i:L j:T k:d : x[i, j, k] + h[i, k]
  return y = y
  return state h = h
}`, nil},
		"a sum over tokens": {`func f(x: input real[L, T, d]) {
  axes L, T, d
  s [L, d] = prod i:L j:d k:T : x[i, k, j]
  y [L, T, d] = prod i:L j:T k:d : x[i, j, k] s[i, k]
  return y = y
}`, []string{"s sums over the tokens of the call"}},
		"a loss has no tokens": {`func f(x: input real[L, T, d]) {
  axes L, T, d
  loss [L] = prod i:L j:d k:T : x[i, k, j]
  return loss = loss
}`, nil},
		"the number of a token": {`func f(x: input real[L, T, d]) {
  axes L, T, d
  n [T] = iota i:T over i
  y [L, T, d] = prod i:L j:T k:d : x[i, j, k] n[j]
  return y = y
}`, []string{"n counts from the start of the call"}},
		"a guard that counts the tokens of the context": {`func f(x: input real[L, T, d], pos: state int[L]) {
  axes L, T, d
  y [L, T, d] = prod i:L j:T k:d where j + pos[i] - 1 >= 0 : x[i, j, k]
  return y = y
}`, nil},
	} {
		t.Run(name, func(t *testing.T) {
			if got := program.Cuts(parse(t, c.text)); !slices.Equal(got, c.want) {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

// TestStopped finds the values on the way to a stop-gradient.
func TestStopped(t *testing.T) {
	f := parse(t, `func f(W: outer real[d], V: outer real[d], x: input real[L, T, d]) {
  axes L, T, d
  a [L, T, d] = prod i:L j:T k:d : W[k] x[i, j, k]
  b [L, T, d] = stop i:L j:T k:d : a[i, j, k]
  y [L, T, d] = prod i:L j:T k:d : b[i, j, k] V[k]
  return y = y
}`)
	if got, want := program.Stopped(f), []string{"W", "x"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestPrune removes an instruction, the parameter that only it reads, and an axis.
func TestPrune(t *testing.T) {
	f := parse(t, `func f(W: outer real[n], V: outer real[n], x: input real[L, d]) {
  axes L, d, n
  a [n] = prod i:n : W[i] V[i]
  y [L, d] = prod i:L j:d : 2 x[i, j]
  return y = y
}`)
	program.Prune(f, f.Param("V"))
	if len(f.Body) != 1 || f.Param("W") != nil || f.Param("V") == nil || len(f.Axes) != 3 {
		t.Errorf("%s", f)
	}
}
