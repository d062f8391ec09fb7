package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// A row is what one kernel needs on one machine: registers of a thread, bytes
// of a thread's stack and spills, bytes of a block's static shared memory.
type row struct {
	File, Kernel, Target    string
	Registers, Stack        int
	SpillStores, SpillLoads int
	Shared                  int
}

// An entry is a line of the table: the rows of a kernel, an item a machine.
type entry struct {
	File      string `json:"file"`
	Kernel    string `json:"kernel"`
	Registers []int  `json:"registers"`
	Stack     []int  `json:"stack"`
	Spilled   []int  `json:"spilled"` // bytes stored and loaded
	Shared    []int  `json:"shared"`
}

func compareRows(a, b row) int {
	return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Kernel, b.Kernel), cmp.Compare(a.Target, b.Target))
}

var (
	entryLine  = regexp.MustCompile(`Compiling entry function '(\w+)' for '(\w+)'`)
	spillLine  = regexp.MustCompile(`(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads`)
	usedLine   = regexp.MustCompile(`Used (\d+) registers`)
	sharedLine = regexp.MustCompile(`(\d+) bytes smem`)
)

// parseLog reads what ptxas says of the kernels of a file. What it says of the
// functions that a kernel calls counts as the kernel's.
func parseLog(file, target, log string) ([]row, error) {
	var rows []row
	for line := range strings.Lines(log) {
		if m := entryLine.FindStringSubmatch(line); m != nil {
			if m[2] != target {
				return nil, fmt.Errorf("%s: the log for %s speaks of %s", file, target, m[2])
			}
			rows = append(rows, row{File: file, Kernel: m[1], Target: target})
			continue
		}
		if len(rows) == 0 {
			continue
		}
		r := &rows[len(rows)-1]
		if m := spillLine.FindStringSubmatch(line); m != nil {
			r.Stack = max(r.Stack, number(m[1]))
			r.SpillStores += number(m[2])
			r.SpillLoads += number(m[3])
		}
		if m := usedLine.FindStringSubmatch(line); m != nil {
			r.Registers = number(m[1])
			if m := sharedLine.FindStringSubmatch(line); m != nil {
				r.Shared = number(m[1])
			}
		}
	}
	if len(rows) == 0 {
		return nil, fmt.Errorf("%s: the log for %s names no kernel", file, target)
	}
	for _, r := range rows {
		if r.Registers == 0 {
			return nil, fmt.Errorf("%s: the log for %s has no registers of %s", file, target, r.Kernel)
		}
	}
	return rows, nil
}

func number(digits string) int {
	n, err := strconv.Atoi(digits)
	if err != nil {
		panic("cudac: BUG: " + err.Error()) // only digits were matched
	}
	return n
}

// spills is an error that names every kernel that spills.
func spills(rows []row) error {
	var errs []error
	for _, r := range rows {
		if r.SpillStores+r.SpillLoads > 0 {
			errs = append(errs, fmt.Errorf("%s: kernel %s spills on %s: %d bytes stored, %d loaded, %d registers",
				r.File, r.Kernel, r.Target, r.SpillStores, r.SpillLoads, r.Registers))
		}
	}
	return errors.Join(errs...)
}

// entries joins the rows of each kernel. Rows are sorted.
func entries(rows []row) []entry {
	var out []entry
	for _, r := range rows {
		if n := len(out); n == 0 || out[n-1].File != r.File || out[n-1].Kernel != r.Kernel {
			out = append(out, entry{File: r.File, Kernel: r.Kernel})
		}
		e := &out[len(out)-1]
		e.Registers = append(e.Registers, r.Registers)
		e.Stack = append(e.Stack, r.Stack)
		e.Spilled = append(e.Spilled, r.SpillStores+r.SpillLoads)
		e.Shared = append(e.Shared, r.Shared)
	}
	return out
}

// A resources is the table: what the kernels need, and for each file the seal of its text
// and of these numbers.
type resources struct {
	Compiler string            `json:"compiler"`
	Machines []string          `json:"machines"`
	Texts    map[string]string `json:"texts"`
	Kernels  []entry           `json:"kernels"`
}

// known is the table that is there, empty where it cannot be read, is another compiler's
// or does not count.
func (c config) known(lib *library) *resources {
	var old resources
	text, err := os.ReadFile(c.resources)
	if err != nil || c.all || lib.version != tableVersion || json.Unmarshal(text, &old) != nil ||
		old.Compiler != compilerName || !slices.Equal(old.Machines, targets[len(targets)-machines:]) {
		return &resources{}
	}
	return &old
}

// rows are those of a file.
func (t *resources) rows(file string) (out []row) {
	for _, e := range t.Kernels {
		if e.File != file || min(len(e.Registers), len(e.Stack), len(e.Spilled), len(e.Shared)) < len(t.Machines) {
			continue
		}
		for i, on := range t.Machines {
			out = append(out, row{file, e.Kernel, on, e.Registers[i], e.Stack[i], e.Spilled[i], 0, e.Shared[i]})
		}
	}
	return out
}

// print is the table, a line a text and a line a kernel.
func print(rows []row, texts map[string]string) ([]byte, error) {
	var b strings.Builder
	on, err := json.Marshal(targets[len(targets)-machines:])
	if err != nil {
		return nil, err
	}
	fmt.Fprintf(&b, "{\n\"compiler\": %q,\n\"machines\": %s,\n\"texts\": {", compilerName, on)
	for i, file := range slices.Sorted(maps.Keys(texts)) {
		fmt.Fprintf(&b, "%s\n%q: %q", map[bool]string{true: ","}[i > 0], file, texts[file])
	}
	b.WriteString("\n},\n\"kernels\": [")
	for i, e := range entries(rows) {
		if len(e.Registers) != machines {
			return nil, fmt.Errorf("%s: kernel %s is known on %d of %d machines", e.File, e.Kernel, len(e.Registers), machines)
		}
		line, err := json.Marshal(e)
		if err != nil {
			return nil, err
		}
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, "\n%s", line)
	}
	b.WriteString("\n]\n}\n")
	return []byte(b.String()), nil
}

// table writes the table, or compares it.
func (c config) table(lib *library, rows []row, texts map[string]string) error {
	at := c.resources
	if lib.version != tableVersion {
		fmt.Printf("cudac: %s holds the registers of NVRTC %s: not compared\n", at, tableVersion)
		return nil
	}
	text, err := print(rows, texts)
	if err != nil {
		return err
	}
	if !c.compare {
		return os.WriteFile(at, text, 0o644)
	}
	old, err := os.ReadFile(at)
	if err != nil {
		return fmt.Errorf("%w: run make cuda", err)
	}
	if line, differ := firstDifference(string(old), string(text)); differ {
		return fmt.Errorf("%s is not current: run make cuda; the first line that differs: %s", at, line)
	}
	return nil
}

// firstDifference is the first line of got that is not in its place in old.
func firstDifference(old, got string) (string, bool) {
	a, b := strings.Split(old, "\n"), strings.Split(got, "\n")
	for i, line := range b {
		if i >= len(a) || a[i] != line {
			return line, true
		}
	}
	if len(a) > len(b) {
		return a[len(b)] + " (no longer made)", true
	}
	return "", false
}
