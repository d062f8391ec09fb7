package context

// UsedAfterScope is the panic message of an Inner whose scope has ended.
const UsedAfterScope = "context: inner state used after its scope"

// An Inner is state that lives for one forward call. It is made by Scope only.
type Inner[S any] struct {
	state S
	live  bool
}

// Scope runs f with inner state that starts as s, and ends its life when f
// returns or panics. What f returns is all that leaves.
func Scope[S, R any](s S, f func(*Inner[S]) R) R {
	in := &Inner[S]{state: s, live: true}
	defer in.end()
	return f(in)
}

func (in *Inner[S]) end() {
	var zero S
	in.state, in.live = zero, false
}

// State returns the state to read and write. It panics with UsedAfterScope
// when the scope has ended.
func (in *Inner[S]) State() *S {
	if !in.live {
		panic(UsedAfterScope)
	}
	return &in.state
}
