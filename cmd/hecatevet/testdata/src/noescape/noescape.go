// Package noescape has thoughts that stay, and others.
package noescape

import (
	"fmt"
	"slices"
	"sync"

	"keeper"
	"life"
)

type block struct {
	width int
	in    *life.Thought // want `a field of Thought outlives its scope`
}

// A call stays where its thought does.
//
//hecate:noescape
type call struct {
	in *life.Thought
	f  func()
}

var global *life.Thought // want `a package-level variable of Thought outlives its scope`

func returned(t *life.Thought) *life.Thought { // want `a result of Thought leaves its scope`
	return t
}

//hecate:scoped
func handsOn(t *life.Thought) *life.Thought { return t }

func rightly() int {
	return life.Think(func(t *life.Thought) int {
		s := t.Sum()
		s.N++
		s.List = append(s.List, s.N)
		inc := func() { t.Sum().N++ }
		inc()
		defer func() { t.Sum().N = 0 }()
		func() { t.Sum().N++ }()
		keeper.Call(func() { t.Sum().N++ })
		slices.SortFunc(s.List, func(a, b int) int { return (a - b) * t.Sum().N })
		use(call{in: t, f: func() { t.Sum().N++ }})
		handsOn(t).Sum().N++
		list := s.List
		return list[0] + s.N
	})
}

func use(c call) { c.f() }

func lists(t *life.Thought) {
	_ = []*life.Thought{t}       // want `a list of Thought outlives its scope`
	_ = map[int]*life.Thought{}  // want `a map of Thought outlives its scope`
	_ = make(chan *life.Thought) // want `a channel of Thought outlives its scope`
}

func interfaces(t *life.Thought) any {
	var x any = t     // want `an interface hides the Thought in t`
	x = t             // want `an interface hides the Thought in t`
	fmt.Println(t, x) // want `an interface hides the Thought in t`
	_ = any(t)        // want `an interface hides the Thought in t`
	_ = []any{t}      // want `an interface hides the Thought in t`
	return t          // want `an interface hides the Thought in t`
}

func identity[T any](x T) T { return x }

type box[T any] struct{ x T }

func generics(t *life.Thought) {
	identity(t)               // want `identity is made for a Thought and can keep it`
	_ = box[*life.Thought]{t} // want `box is made for a Thought and can keep it`
}

func goroutines(t *life.Thought) {
	go helper(t)                // want `t goes to another goroutine`
	go func() { t.Sum().N++ }() // want `t goes to another goroutine`
	go t.Sum()                  // want `t goes to another goroutine`
	var wg sync.WaitGroup
	wg.Go(func() { t.Sum().N++ })        // want `t is used by a function that may run after its scope`
	keeper.Start(func() { t.Sum().N++ }) // want `t is used by a function that may run after its scope`
	wg.Wait()
}

func helper(t *life.Thought) { t.Sum().N++ }

func kept(t *life.Thought) func() {
	keeper.Keep(func() { t.Sum().N++ }) // want `t is used by a function that may run after its scope`
	keeper.Pass(func() { t.Sum().N++ }) // want `t is used by a function that may run after its scope`
	f := func() { t.Sum().N++ }         // want `t is used by a function that may run after its scope`
	return f
}

type hooks struct{ f func() }

func stored(h *hooks, t *life.Thought) {
	h.f = func() { t.Sum().N++ } // want `t is used by a function that may run after its scope`
}

func movedOut() {
	var leak *life.Thought
	var sum *life.Sum
	var n int
	life.Think(func(t *life.Thought) int {
		leak = t      // want `t is moved out of its scope into leak`
		sum = t.Sum() // want `t.Sum\(\) is moved out of its scope into sum`
		n = t.Sum().N
		leak = nil
		return 0
	})
	_, _, _ = leak, sum, n
}

var lastSum *life.Sum

type keepsSums struct {
	sum  *life.Sum
	list []int
}

func sums(k *keepsSums, t *life.Thought, out chan []int, all map[int][]int) *life.Sum {
	s := t.Sum()
	k.sum = s            // want `s points into a scope and is stored outside of it`
	k.list = s.Next.List // want `s.Next.List points into a scope and is stored outside of it`
	lastSum = s          // want `s points into a scope and is stored in a package-level variable`
	out <- s.List[1:]    // want `s.List\[1:\] points into a scope and is sent out of it`
	all[0] = s.List      // want `s.List points into a scope and is stored outside of it`
	own := keepsSums{sum: s}
	own.list = s.List
	s.Next = &life.Sum{N: own.sum.N}
	go total(s.List) // want `s.List goes to another goroutine`
	total(s.List)
	if s.N > 0 {
		return own.sum // want `own.sum points into a scope and is returned`
	}
	return s // want `s points into a scope and is returned`
}

func total([]int) {}

func copies(t *life.Thought) ([]int, life.Time) {
	return slices.Clone(t.Sum().List), life.Dawn()
}

func shadow(t *life.Thought, k *keepsSums) {
	s := t.Sum()
	s.N++
	{
		s := &life.Sum{}
		k.sum = s
	}
}

func allowed() {
	var leak *life.Thought
	life.Think(func(t *life.Thought) int {
		leak = t //hecate:allow noescape what leaves its scope is refused: that is the test
		return 0
	})
	_ = leak
}

func roundabout(t *life.Thought, k *keepsSums) {
	var a, b []int
	for range 3 {
		k.list = b // want `b points into a scope and is stored outside of it`
		b = a
		a = t.Sum().List
	}
}
