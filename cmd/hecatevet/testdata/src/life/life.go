// Package life has a marked type of every kind, with names of its own.
package life

// A Ticket is moved.
//
//hecate:consumeonce
//hecate:nozero
type Ticket[S any] struct{ cell *S }

// Sell makes one.
func Sell[S any](s S) Ticket[S] { return Ticket[S]{&s} }

// Punch takes what is inside.
//
//hecate:takes
func (t Ticket[S]) Punch() (S, error) { return *t.cell, nil }

// Refund gives it back.
//
//hecate:returns
func (t Ticket[S]) Refund(s S) (Ticket[S], error) { return Ticket[S]{&s}, nil }

// Copy leaves the ticket as it is.
//
//hecate:borrows
func (t Ticket[S]) Copy() Ticket[S] { return Sell(*t.cell) }

// Ride uses a ticket up and returns the next one.
func Ride[S any](n int, t Ticket[S]) (int, Ticket[S]) { return n, Ticket[S]{t.cell} }

// Show looks at a ticket.
//
//hecate:borrows
func Show[S any](t Ticket[S]) bool { return t.cell != nil }

// A Thought lives for one scope.
//
//hecate:noescape
//hecate:nozero
type Thought struct{ sum *Sum }

// A Sum is what a thought is made of.
type Sum struct {
	N    int
	List []int
	Next *Sum
}

// Think is the scope.
func Think(f func(*Thought) int) int { return f(&Thought{&Sum{}}) }

// Sum points into the scope.
//
//hecate:scoped
func (t *Thought) Sum() *Sum { return t.sum }

// A Time is a clock.
//
//hecate:clock
//hecate:nozero
type Time struct{ now int }

// Dawn is the first time.
func Dawn() Time { return Time{1} }

// Next is the time after this one.
//
//hecate:advances
func (t Time) Next(n int) Time { return Time{t.now + n} }

// Now reads the time.
func (t Time) Now() int { return t.now }

// A Table is read.
type Table struct{ data [][]int }

// Row is not to be written.
//
//hecate:readonly
func (t Table) Row(i int) []int { return t.data[i] }

// A Pen writes a table.
//
//hecate:writer
type Pen struct{ t *Table }

// Write changes a row.
func (p *Pen) Write(i int, f func([]int)) { f(p.t.data[i]) }

// A Job is what a forward computes with.
//
//hecate:run
//hecate:noescape
type Job struct{ Time Time }

// A Number is what it computes.
//
//hecate:value
type Number struct {
	//hecate:readonly
	Data []int
}
