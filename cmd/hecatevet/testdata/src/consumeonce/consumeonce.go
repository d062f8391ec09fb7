// Package consumeonce moves tickets, correctly and incorrectly.
package consumeonce

import (
	"errors"
	"fmt"

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

func correct(t ticket) ticket {
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
