package cudashim

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// runLimit ends a kernel that does not end.
const runLimit = 3 * time.Minute

// Exit codes of a program, as main.cpp sets them.
const (
	exitFault = 3
	exitASan  = 65
	exitTSan  = 66
)

// Run runs a program. Its error is a *Fault, or says what is wrong with the
// program before it runs.
func (b *Binary) Run(p *Program) (Result, error) {
	in, size, err := encode(p)
	if err != nil {
		return nil, err
	}
	program := filepath.Join(b.path, "program")
	out, fault := start(in, program)
	if fault != nil && strings.Contains(fault.Text, "unexpected memory mapping") {
		// The thread sanitizer wants its addresses free, which randomised ones
		// are not everywhere.
		out, fault = start(in, "setarch", "-R", program)
	}
	if fault != nil {
		return nil, fault
	}
	if len(out) != size {
		return nil, &Fault{World, fmt.Sprintf("the program returned %d bytes for %d", len(out), size)}
	}
	return decode(p, out), nil
}

func start(in []byte, name string, args ...string) ([]byte, *Fault) {
	ctx, cancel := context.WithTimeout(context.Background(), runLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Stdin = bytes.NewReader(in)
	var out, text bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &text
	err := cmd.Run()
	if err == nil {
		return out.Bytes(), nil
	}
	if ctx.Err() != nil {
		return nil, &Fault{World, fmt.Sprintf("the program did not end within %v\n%s", runLimit, text.Bytes())}
	}
	return nil, fault(err, text.String())
}

var faultLine = regexp.MustCompile(`(?s)hecate-shim: (\w+): (.*)`)

// fault reads what a program said when it ended.
func fault(err error, text string) *Fault {
	code := -1
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		code = exit.ExitCode()
	}
	switch m := faultLine.FindStringSubmatch(text); {
	case code == exitASan:
		return &Fault{Address, head(text)}
	case code == exitTSan && !strings.Contains(text, "FATAL"):
		return &Fault{Race, head(text)}
	case code == exitFault && m != nil:
		return &Fault{Kind(m[1]), strings.TrimSpace(m[2])}
	}
	return &Fault{World, strings.TrimSpace(fmt.Sprintf("%v\n%s", err, head(text)))}
}

var (
	ownFrame = regexp.MustCompile(`^\s+#\d+ .*hecate_shim`)             // a frame of the shim in a report
	ownPath  = regexp.MustCompile(`/\S*/hecate/cudashim/[\w-]+/(it/)?`) // where programs are made and kept
)

// head is the part of a sanitizer's report that people read: the kernel's
// frames, without the map of addresses that follows.
func head(text string) string {
	const most = 60
	text, _, _ = strings.Cut(strings.TrimSpace(text), "\nShadow bytes around")
	lines := slices.DeleteFunc(strings.Split(ownPath.ReplaceAllString(text, ""), "\n"), ownFrame.MatchString)
	if len(lines) > most {
		lines = append(lines[:most], "…")
	}
	return strings.Join(lines, "\n")
}

// letterOf is the type of a buffer's entries, as main.cpp names it.
func letterOf(data any) (letter string, count int, err error) {
	switch x := data.(type) {
	case []float32:
		return "f", len(x), nil
	case []float64:
		return "d", len(x), nil
	case []int32:
		return "i", len(x), nil
	case []uint8:
		return "b", len(x), nil
	case []uint16:
		return "h", len(x), nil
	}
	return "", 0, fmt.Errorf("cudashim: no buffer is made of %T", data)
}

var word = regexp.MustCompile(`^\w{1,100}$`)

// encode writes a program as main.cpp reads it; size is how many bytes come
// back.
func encode(p *Program) (in []byte, size int, err error) {
	var b, data bytes.Buffer
	fmt.Fprintf(&b, "seed %d\nisolated %d\nearly %d\n", p.Seed, digit(p.Isolated), digit(p.EarlyCopies))
	var names []string
	for _, buf := range p.Buffers {
		letter, n, err := letterOf(buf.Data)
		if err != nil {
			return nil, 0, fmt.Errorf("%w (buffer %q)", err, buf.Name)
		}
		if !word.MatchString(buf.Name) || slices.Contains(names, buf.Name) {
			return nil, 0, fmt.Errorf("cudashim: buffer name %q: not a word, or there twice", buf.Name)
		}
		names = append(names, buf.Name)
		fmt.Fprintf(&b, "buffer %s %s %d\n", buf.Name, letter, n)
		if err := binary.Write(&data, binary.LittleEndian, buf.Data); err != nil {
			return nil, 0, fmt.Errorf("cudashim: %w", err)
		}
	}
	for _, l := range p.Launches {
		if err := encodeLaunch(&b, p, names, l); err != nil {
			return nil, 0, err
		}
	}
	b.WriteString("data\n")
	size = data.Len()
	return append(b.Bytes(), data.Bytes()...), size, nil
}

func encodeLaunch(b *bytes.Buffer, p *Program, names []string, l Launch) error {
	if !word.MatchString(l.Kernel) {
		return fmt.Errorf("cudashim: %q is no kernel's name", l.Kernel)
	}
	fmt.Fprintf(b, "launch %s", l.Kernel)
	for _, d := range []Dim{l.Grid, l.Block} {
		for _, n := range d {
			if n < 0 || n > math.MaxInt32 {
				return fmt.Errorf("cudashim: kernel %s is launched over %v × %v", l.Kernel, l.Grid, l.Block)
			}
			fmt.Fprintf(b, " %d", max(n, 1))
		}
	}
	if l.Shared < 0 {
		return fmt.Errorf("cudashim: kernel %s is launched with %d bytes of shared memory", l.Kernel, l.Shared)
	}
	fmt.Fprintf(b, " %d\n", l.Shared)
	for _, a := range l.Args {
		if !a.isPtr {
			fmt.Fprintf(b, "integer %d\n", a.number)
			continue
		}
		if a.buffer == "" {
			b.WriteString("null\n")
			continue
		}
		i := slices.Index(names, a.buffer)
		if i < 0 {
			return fmt.Errorf("cudashim: kernel %s: there is no buffer %q", l.Kernel, a.buffer)
		}
		if _, n, _ := letterOf(p.Buffers[i].Data); a.number < 0 || a.number > int64(n) {
			return fmt.Errorf("cudashim: kernel %s: entry %d of buffer %s, which has %d", l.Kernel, a.number, a.buffer, n)
		}
		fmt.Fprintf(b, "pointer %d %d\n", i, a.number)
	}
	return nil
}

func digit(b bool) int {
	if b {
		return 1
	}
	return 0
}

// decode reads the buffers that came back.
func decode(p *Program, out []byte) Result {
	r := Result{}
	for _, buf := range p.Buffers {
		var x any
		switch old := buf.Data.(type) {
		case []float32:
			x = make([]float32, len(old))
		case []float64:
			x = make([]float64, len(old))
		case []int32:
			x = make([]int32, len(old))
		case []uint8:
			x = make([]uint8, len(old))
		case []uint16:
			x = make([]uint16, len(old))
		}
		n, err := binary.Decode(out, binary.LittleEndian, x)
		if err != nil {
			panic(fmt.Sprintf("cudashim: BUG: %v", err)) // the length was checked
		}
		out = out[n:]
		r[buf.Name] = x
	}
	return r
}
