package consumeonce

// Moves by deferred calls, goroutines, function literals, fields, elements and generics.

import (
	"fmt"

	"keeper"
	"life"
)

func deferred(t ticket) (err error) {
	defer keep(t)
	return onlyError(t) // want `t was moved in line \d+`
}

func onlyError(ticket) error { return nil }

func deferredLiteral(t ticket) ticket {
	defer func() { fmt.Println("done") }()
	_, t = life.Ride(1, t)
	return t
}

func goes(t ticket) {
	go keep(t)
	keep(t) // want `t was moved in line \d+`
}

func goesLiteral(t ticket) {
	go func() { keep(t) }()
	keep(t) // want `t was moved in line \d+`
}

func literal(t ticket) {
	f := func() { keep(t) } // want `the function moves t in line \d+ and may run more than once`
	f()
	f()
}

func literalAssigns(t ticket) ticket {
	f := func() { _, t = life.Ride(1, t) }
	f()
	f()
	return t
}

func literalUses(t ticket) {
	keep(t)
	f := func() bool { return life.Show(t) } // want `the function uses t, which was moved in line \d+`
	f()
}

func literalNow(t ticket) {
	func() { keep(t) }()
	keep(t) // want `t was moved in line \d+`
}

func literalOwn() {
	f := func(t ticket) {
		keep(t)
		keep(t) // want `t was moved in line \d+`
	}
	f(life.Sell(1))
}

type session struct {
	name string
	at   ticket
	past [2]ticket
}

func fields(s *session) error {
	_, s.at = life.Ride(1, s.at)
	keep(s.at)
	if s.name == "" {
		return errLate
	}
	keep(s.at) // want `s.at was moved in line \d+`
	return nil
}

func (s *session) next() { _, s.at = life.Ride(1, s.at) }

func calls(s *session) {
	keep(s.at)
	s.next() // it may have assigned the field
	keep(s.at)
	s = &session{name: "new", at: life.Sell(1), past: [2]ticket{life.Sell(1), life.Sell(2)}}
	keep(s.at)
}

func whole(s session) {
	keep(s.at)
	fmt.Println(s.name)
	other := s // want `s was moved in line \d+`
	keep(other.at)
	keep(other.past[0])
	keep(other.past[1])
	keep(other.past[0]) // want `other.past\[0\] was moved in line \d+`
}

func elements(list []ticket, i int) {
	keep(list[i])
	i++
	keep(list[i])
	keep(list[i])                      // want `list\[i\] was moved in line \d+`
	_, list[i] = life.Ride(i, list[i]) // want `list\[i\] was moved in line \d+`
	keep(list[i])
	for j := range list {
		keep(list[j])
	}
}

func hidden(t ticket) {
	fmt.Println(t) // want `an interface hides the Ticket in t, and it cannot be followed`
}

func addressed(t ticket) *ticket {
	return &t // want `the address of a Ticket is a second claim`
}

func copied(a, b []ticket) {
	copy(a, b) // want `copy makes a second claim to every Ticket of the list`
}

var shared ticket = life.Sell(1) // want `shared is a package-level variable of Ticket`

var atStart = func() ticket {
	t := life.Sell(1)
	keep(t)
	return t // want `t was moved in line \d+`
}

func generic[S any](s S) (life.Ticket[S], life.Ticket[S]) {
	t := life.Sell(s)
	return t, t // want `t was moved in line \d+`
}

type pair[T any] struct{ a, b T }

func inGeneric(p pair[ticket]) {
	keep(p.a)
	keep(p.b)
	keep(p.a) // want `p.a was moved in line \d+`
}

func allowed(t ticket) {
	keep(t)
	keep(t) //hecate:allow consumeonce the second one is refused: that is the test
	//hecate:allow consumeonce so is the third
	keep(t)
}

func typeSwitch(x any) {
	switch t := x.(type) {
	case ticket:
		keep(t)
		keep(t) // want `t was moved in line \d+`
	}
}

func once(t, u, v ticket) {
	keeper.Once(1, func() { keep(t) })
	keeper.Many(func() { keep(u) })  // want `the function moves u in line \d+ and may run more than once`
	keeper.Twice(func() { keep(v) }) // want `the function moves v in line \d+ and may run more than once`
	keep(t)                          // want `t was moved in line \d+`
}

func onceInLoop(t ticket) {
	for range 3 {
		keeper.Once(1, func() { keep(t) }) // want `the function uses t, which was moved in line \d+`
	}
}

func assignedOnOneWay(t ticket, early bool) {
	keep(t)
	_ = early && func() bool { t = life.Sell(1); return true }()
	keep(t) // want `t was moved in line \d+`
}

func notTaken(t ticket) (ticket, error) {
	n, err := t.Punch()
	if err != nil {
		return t, err
	}
	if n > 0 {
		return t, nil // want `t was taken in line \d+ and not yet returned`
	}
	return t.Refund(n)
}

func notTakenEither(t ticket, other error) (ticket, error) {
	n, err := t.Punch()
	if err == nil {
		return t.Refund(n)
	}
	if err = other; err != nil {
		return t, err
	}
	return t, nil
}

func takenAfterAll(t ticket, other error) (ticket, error) {
	_, err := t.Punch()
	if err = other; err != nil {
		return t, err // want `t was taken in line \d+ and not yet returned`
	}
	return ticket{}, nil
}

func refill(s *session) { s.at = life.Sell(1) }

func refilled(s *session, v session) {
	keep(s.at)
	refill(s)
	keep(s.at)
	keep(v.at)
	refill(&v)
	keep(v.at)
}
