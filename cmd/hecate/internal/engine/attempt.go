package engine

import (
	"bytes"
	"context"
	"errors"
	"iter"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/nl-hecate/hecate/cmd/hecate/internal/build"
	"github.com/nl-hecate/hecate/runtime/cpu"
)

// An attempt is one call of build.Run, which runs by itself from a checkpoint to
// its end. Here it is a coroutine that stops when it has printed what it knows of
// the build, when it has measured, and after every update. Told that its context
// has ended, it saves what there is, as it does on a signal.
type attempt struct {
	info  Info
	watch watch
	ended ending
	out   string // the folder that it writes into
	next  func() (event, bool)
	stop  func()
	err   error // of build.Run, once it has returned
}

// An event is why an attempt stopped.
type event int

const (
	ready    event = iota // nothing was computed yet
	measured              // the held-out figure before the first step is there
	stepped
)

// An ending is the context of an attempt: ended by us, or by the context of who
// asks for something.
type ending struct {
	context.Context
	asks atomic.Pointer[context.Context]
	over atomic.Bool
}

func (e *ending) Err() error {
	if ctx := e.asks.Load(); ctx != nil && (*ctx).Err() != nil {
		return context.Canceled
	}
	if e.over.Load() {
		return context.Canceled
	}
	return nil
}

// begin starts an attempt and runs it until it is ready.
func (p *Present) begin(opt build.Options) (*attempt, error) {
	a := &attempt{out: opt.Out, ended: ending{Context: context.Background()}}
	a.info = Info{Model: opt.Model, Lanes: opt.Lanes, Chunk: opt.Chunk}
	a.next, a.stop = iter.Pull(func(yield func(event) bool) {
		pause := func(e event) {
			if !a.ended.over.Load() && !yield(e) {
				a.ended.over.Store(true)
			}
		}
		a.watch.step = func() { pause(stepped) }
		out := &lines{each: func(line string) {
			if a.hear(line) {
				pause(ready)
			} else if strings.HasPrefix(line, "before:") {
				pause(measured)
			}
		}}
		a.err = build.Run(&a.ended, a.watch.catalog(p.Catalog), opt, p.Fallback, out)
	})
	if _, ok := a.next(); ok {
		return a, nil
	}
	if a.err == nil {
		a.err = errors.New("the build said nothing")
	}
	return nil, a.err
}

// end tells the attempt that it is over and waits for it to have saved.
func (a *attempt) end() error {
	a.stop()
	return a.err
}

// asking runs f with a context that can end what the attempt does.
func (a *attempt) asking(ctx context.Context, f func()) error {
	a.ended.asks.Store(&ctx)
	f()
	a.ended.asks.Store(nil)
	return ctx.Err()
}

var (
	headLine = regexp.MustCompile(`^\S+: [\d,]+ parameters \(([^)]*)\), (\w+) arithmetic \(\w+\), (.*)$`)
	textLine = regexp.MustCompile(`^text: +(.*) \(([\d,]+) bytes\)$`)
	heldLine = regexp.MustCompile(`^held out: the last ([\d,]+) bytes; counts of the rest give ([\d.]+) bits/byte \(unigram\), ([\d.]+) \(bigram\)$`)
)

// hear takes what a line says about the build; last reports whether it was the
// last of those before anything is computed.
func (a *attempt) hear(line string) (last bool) {
	if m := headLine.FindStringSubmatch(line); m != nil {
		a.info.Sizes, a.info.MovedBy = m[1], m[3]
		a.info.Arithmetic = cpu.Active().Arithmetic()
	}
	if m := textLine.FindStringSubmatch(line); m != nil {
		a.info.Text, a.info.TextBytes = m[1], count(m[2])
	}
	m := heldLine.FindStringSubmatch(line)
	if m == nil {
		return false
	}
	a.info.HeldOut = count(m[1])
	a.info.Unigram, _ = strconv.ParseFloat(m[2], 64) // the expression lets numbers through only
	a.info.Bigram, _ = strconv.ParseFloat(m[3], 64)
	return true
}

// count reads a number with commas.
func count(s string) int {
	n, _ := strconv.Atoi(strings.ReplaceAll(s, ",", "")) // the expression lets digits through only
	return n
}

// lines calls each for every whole line that is written.
type lines struct {
	rest []byte
	each func(string)
}

func (l *lines) Write(b []byte) (int, error) {
	l.rest = append(l.rest, b...)
	for {
		i := bytes.IndexByte(l.rest, '\n')
		if i < 0 {
			return len(b), nil
		}
		line := string(l.rest[:i])
		l.rest = l.rest[i+1:]
		l.each(line)
	}
}
