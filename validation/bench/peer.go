package main

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"

	"github.com/nl-hecate/hecate/runtime/num"
)

// A peer is a process that computes what the emitted code computes, on request:
// validation/bench/c and validation/bench/jax. Requests are lines, numbers are sent as they are in memory.
type peer[F num.Float] struct {
	what string // in errors
	cmd  *exec.Cmd
	in   io.WriteCloser
	out  *bufio.Reader

	problems, models int // how many have been sent
}

// startPeer starts a process.
func startPeer[F num.Float](what string, cmd *exec.Cmd) (*peer[F], error) {
	p := &peer[F]{what: what, cmd: cmd}
	cmd.Stderr = os.Stderr
	var err error
	if p.in, err = cmd.StdinPipe(); err != nil {
		return nil, fmt.Errorf("start %s: %w", what, err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", what, err)
	}
	p.out = bufio.NewReader(out)
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", what, err)
	}
	return p, nil
}

// close ends the process.
func (p *peer[F]) close() error {
	p.in.Close()
	if err := p.cmd.Wait(); err != nil {
		return fmt.Errorf("%s: %w", p.what, err)
	}
	return nil
}

// send sends a line and numbers.
func (p *peer[F]) send(line string, data ...[]F) error {
	w := bufio.NewWriter(p.in)
	fmt.Fprintln(w, line)
	for _, x := range data {
		if err := binary.Write(w, binary.NativeEndian, x); err != nil {
			return fmt.Errorf("%s: %w", p.what, err)
		}
	}
	if err := w.Flush(); err != nil {
		return fmt.Errorf("%s: %w", p.what, err)
	}
	return nil
}

// ask sends a request and reads its answer, a line of numbers.
func (p *peer[F]) ask(into []any, format string, args ...any) error {
	if _, err := fmt.Fprintf(p.in, format+"\n", args...); err != nil {
		return fmt.Errorf("%s: %w", p.what, err)
	}
	line, err := p.out.ReadString('\n')
	if err != nil {
		return fmt.Errorf("%s: %w", p.what, err)
	}
	if _, err := fmt.Sscan(line, into...); err != nil {
		return fmt.Errorf("%s answers %q: %w", p.what, strings.TrimSpace(line), err)
	}
	return nil
}

// get fetches n numbers.
func (p *peer[F]) get(n int, format string, args ...any) ([]F, error) {
	if _, err := fmt.Fprintf(p.in, format+"\n", args...); err != nil {
		return nil, fmt.Errorf("%s: %w", p.what, err)
	}
	x := make([]F, n)
	if err := binary.Read(p.out, binary.NativeEndian, x); err != nil {
		return nil, fmt.Errorf("%s: %w", p.what, err)
	}
	return x, nil
}

// loadRule sends a rule with its inputs, forward and backward of T tokens, and returns
// its number.
func (p *peer[F]) loadRule(name string, T, d int, data [][]F) (int, error) {
	p.problems++
	return p.problems - 1, p.send(fmt.Sprintf("rule %s %d %d", name, T, d), data...)
}

// step runs both passes of a rule, warm times before they are measured.
func (p *peer[F]) step(number, warm int) (t spent, err error) {
	err = p.ask([]any{&t.cpu, &t.wall}, "step %d %d", number, warm)
	return t, err
}

// stepped fetches n numbers of a result of the last step.
func (p *peer[F]) stepped(number, n int, name string) ([]F, error) {
	return p.get(n, "stepped %d %s", number, name)
}

// loadModel sends a model with its parameters and tokens and returns its number.
func (p *peer[F]) loadModel(line string, data ...[]F) (int, error) {
	p.models++
	return p.models - 1, p.send("model "+line, data...)
}

// chunk takes the next chunk of a model, warm chunks before it is measured, and returns
// the loss of the last.
func (p *peer[F]) chunk(number, warm int) (t spent, nats float64, err error) {
	err = p.ask([]any{&t.cpu, &t.wall, &nats}, "chunk %d %d", number, warm)
	return t, nats, err
}
