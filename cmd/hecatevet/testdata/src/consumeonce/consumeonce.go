// Package consumeonce moves tickets, rightly and wrongly.
package consumeonce

import (
	"errors"
	"fmt"

	"keeper"
	"life"
)

type ticket = life.Ticket[int]

var errLate = errors.New("late")

func keep(ticket) {}

func again(t ticket) {
	_, next := life.Ride(1, t)
	keep(t) // want `t was moved in line \d+; use what that call returned`
	keep(next)
}

func rightly(t ticket) ticket {
	for i := range 3 {
		_, t = life.Ride(i, t)
	}
	return t
}

func twoPlaces(t ticket) {
	a := t
	b := t // want `t was moved in line \d+`
	keep(a)
	keep(b)
}

func oneBranch(t ticket, early bool) {
	if early {
		keep(t)
	}
	keep(t) // want `t was moved in line \d+`
}

func bothBranches(t ticket, early bool) {
	if early {
		keep(t)
		return
	}
	keep(t)
}

func panics(t ticket, early bool) {
	if early {
		keep(t)
		panic("late")
	}
	keep(t)
}

func shortCircuit(t ticket, early bool) bool {
	ok := early && moved(t)
	return ok || moved(t) // want `t was moved in line \d+`
}

func moved(ticket) bool { return true }

func loop(t ticket) {
	for range 3 {
		keep(t) // want `t is moved in a loop and not assigned again before the next round`
	}
}

func loopOnce(t ticket) {
	for i := range 3 {
		if i == 1 {
			keep(t)
			break
		}
	}
}

func loopAssigns(t ticket, list []ticket) {
	for i := range list {
		list[i] = t
		_, t = life.Ride(i, list[i])
	}
	for _, x := range list {
		keep(x)
	}
	for _, x := range list {
		keep(x)
		keep(x) // want `x was moved in line \d+`
	}
}

func gotos(t ticket, n int) {
again:
	keep(t) // want `t is moved in a loop`
	if n--; n > 0 {
		goto again
	}
}

func labels(t ticket, rows [][]int) {
outer:
	for _, row := range rows {
		for range row {
			keep(t)
			break outer
		}
		continue outer
	}
	keep(t) // want `t was moved in line \d+`
}

func selects(t ticket, out, other chan ticket, done chan bool) {
	select {
	case out <- t:
	case other <- t: // one of the two
	case <-done:
		keep(t)
	}
	keep(t) // want `t was moved`
}

func received(t ticket, in chan ticket, done chan bool) ticket {
	keep(t)
	select {
	case t = <-in:
	case <-done:
		t = life.Sell(1)
	}
	return t
}

func sent(t ticket, out chan<- ticket) {
	out <- t
	out <- t // want `t was moved in line \d+`
}

func switches(t ticket, n int) {
	switch n {
	case 1:
		keep(t)
		fallthrough
	case 2:
		keep(t) // want `t was moved in line \d+`
	case 3:
		keep(t)
	default:
		_, t = life.Ride(n, t)
		keep(t)
	}
}

func shadow(t ticket) {
	{
		t := life.Sell(2)
		keep(t)
	}
	keep(t)
	if t := life.Sell(3); life.Show(t) {
		keep(t)
	}
	_ = life.Show(t) // want `t was moved in line \d+`
}

func borrowed(t ticket) {
	a := t.Copy()
	fmt.Println(life.Show(t), t == a)
	keep(a)
	keep(t)
	_ = t.Copy() // want `t was moved in line \d+`
}

//hecate:borrows
func looks(t, u ticket) bool {
	if life.Show(t) {
		return true
	}
	keep(u) // want `u is borrowed: a function marked borrows cannot move it on`
	return false
}

func lends(t, u ticket) ticket {
	looks(t, u)
	keep(u)
	return t
}

func takes(t ticket) (ticket, error) {
	s, err := t.Punch()
	if err != nil {
		return ticket{}, err
	}
	return t.Refund(s + 1)
}

func takesTwice(t ticket) {
	_, _ = t.Punch()
	_, _ = t.Punch() // want `t was taken in line \d+ and not yet returned`
}

func keepsTaken(t ticket) {
	_, _ = t.Punch()
	keep(t) // want `t was taken in line \d+ and not yet returned`
}

func returnsTwice(t ticket) {
	s, _ := t.Punch()
	_, _ = t.Refund(s)
	_, _ = t.Refund(s) // want `t was moved in line \d+`
}

func returnsFirst() {
	t := life.Sell(1)
	u, _ := t.Refund(2) // want `t is given back and was not taken`
	keep(u)
}

func methodValue(t ticket) {
	f := t.Punch // want `a method value keeps a second claim to the Ticket`
	_, _ = f()
}

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
