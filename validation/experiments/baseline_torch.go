package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
)

// torchScript is the other end; see its head.
const torchScript = "validation/bench/torch/baseline.py"

// torch is a process of PyTorch for each worker.
type torch struct{ of []*torchProcess }

type torchProcess struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

// startTorch starts n processes of so many threads each.
func startTorch(ctx context.Context, python, text string, n, threads int) (*torch, error) {
	t := &torch{}
	for range n {
		p := &torchProcess{cmd: exec.CommandContext(ctx, python, torchScript, text, fmt.Sprint(threads))}
		p.cmd.Stderr = os.Stderr
		p.cmd.Env = append(os.Environ(), fmt.Sprintf("OMP_NUM_THREADS=%d", threads), fmt.Sprintf("MKL_NUM_THREADS=%d", threads))
		var err error
		if p.in, err = p.cmd.StdinPipe(); err != nil {
			return nil, err
		}
		out, err := p.cmd.StdoutPipe()
		if err != nil {
			return nil, err
		}
		p.out = bufio.NewReader(out)
		if err := p.cmd.Start(); err != nil {
			return nil, fmt.Errorf("start PyTorch: %w; make baseline installs it", err)
		}
		t.of = append(t.of, p)
	}
	return t, nil
}

func (t *torch) close() {
	for _, p := range t.of {
		p.in.Close()
		p.cmd.Wait()
	}
}

// An answer is a line of the process.
type answer struct {
	Error      string
	Parameters int
	Marks      [][2]float64
	Speed      float64 `json:"tokens_per_second"`
}

// ask sends a request and reads its answer.
func (p *torchProcess) ask(model map[string]any, rate float64, seed, steps int, at []int) (a answer, err error) {
	request := maps.Clone(model)
	maps.Copy(request, map[string]any{"window": baselineWindow, "chunk": baselineChunk, "batch": baselineBatch, "steps": steps, "marks": at, "rate": rate, "seed": seed})
	if err := json.NewEncoder(p.in).Encode(request); err != nil {
		return a, fmt.Errorf("PyTorch: %w", err)
	}
	line, err := p.out.ReadBytes('\n')
	if err != nil {
		return a, fmt.Errorf("PyTorch ended: %w", err)
	}
	if err := json.Unmarshal(line, &a); err != nil {
		return a, fmt.Errorf("PyTorch answers %q: %w", line, err)
	}
	if a.Error != "" {
		return a, fmt.Errorf("PyTorch: %s", a.Error)
	}
	return a, nil
}

// run makes one run.
func (t *torch) run(worker int, j job, steps int, at []int) (outcome, error) {
	a, err := t.of[worker].ask(j.rival.torch, j.rate, j.seed, steps, at)
	if err != nil {
		return outcome{}, err
	}
	out := outcome{rate: j.rate, seed: j.seed, parameters: a.Parameters, perSecond: a.Speed}
	for _, m := range a.Marks {
		out.marks = append(out.marks, mark{steps: int(m[0]), heldOut: m[1]})
	}
	return out, nil
}
