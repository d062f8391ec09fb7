package emitcuda_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/nl-hecate/hecate/gen"
	"github.com/nl-hecate/hecate/gen/abi"
	"github.com/nl-hecate/hecate/gen/emitcuda"
)

// A manifest as whoever launches kernels reads it.
type manifest struct{ Kernels []listed }

type listed struct {
	Unit, Kernel, File string
	Constants          map[string]int
	Open               []string
	Buffers            []struct{ Name, Type, Length string }
	Functions          []function
}

type function struct {
	Name      string
	Equations []string
	Block     int
	Static    int `json:"static_shared"`
	Arrays    []struct{ Name string }
	Arguments []string
}

var head = regexp.MustCompile(`(?s)HECATE_KERNEL\((\d+)\) (\w+)\(([^)]*)\)`)

func emitted(t *testing.T) ([]*abi.Unit, map[string][]byte) {
	t.Helper()
	s, ds := gen.Load(specs)
	if ds.HasErrors() {
		t.Fatal(ds)
	}
	units, ds := gen.Compile(s)
	if ds.HasErrors() {
		t.Fatal(ds)
	}
	files := map[string][]byte{}
	var all []emitcuda.File
	units = abi.WithFunctions(units)
	for _, u := range units {
		all = append(all, emitcuda.Unit(u)...)
	}
	for _, f := range all {
		files[f.Path] = []byte(f.Text)
	}
	files["manifest.json"] = emitcuda.Manifest(all)
	return units, files
}

// onlyZeros finds a launch with comments of equations and zeros alone.
var onlyZeros = regexp.MustCompile(`\n\n// [^\n]*\n(?:// Zeros into [^\n]*\n)+HECATE_KERNEL.*`)

// TestManifest holds the manifest to the text: functions in order, arguments by
// name and type, blocks, and every equation of the unit's page.
func TestManifest(t *testing.T) {
	if testing.Short() {
		t.Skip("a long series")
	}
	units, files := emitted(t)
	var m manifest
	if err := json.Unmarshal(files["manifest.json"], &m); err != nil {
		t.Fatal(err)
	}
	if len(m.Kernels) != len(files)-1 {
		t.Errorf("the manifest has %d kernels for %d files", len(m.Kernels), len(files)-1)
	}
	known := map[string]bool{}
	for _, u := range units {
		for _, q := range u.Equations {
			known[q.ID] = true
		}
	}
	for _, k := range m.Kernels {
		text := string(files[k.File])
		if at := onlyZeros.FindString(text); at != "" {
			t.Errorf("%s has a launch that only writes zeros:\n%s", k.File, at)
		}
		found := head.FindAllStringSubmatch(text, -1)
		if len(found) == 0 || len(found) != len(k.Functions) {
			t.Errorf("%s: %d functions, %d in the manifest", k.File, len(found), len(k.Functions))
			continue
		}
		for i, f := range k.Functions {
			if got, want := found[i][1:], k.head(f); !slices.Equal(oneLine(got), want) {
				t.Errorf("%s: the text has %q, and the manifest %q", k.File, got, want)
			}
			if f.Static > 96<<10-emitcuda.Room && f.Arrays != nil {
				t.Errorf("%s: %s has arrays beside %d bytes of shared memory", k.File, f.Name, f.Static)
			}
			for _, q := range f.Equations {
				if !known[q] && !strings.HasPrefix(q, k.Unit) {
					t.Errorf("%s: %s names %s, which no page has", k.File, f.Name, q)
				}
			}
		}
	}
}

// head is what the text says of a function: threads, name and parameters.
func (k *listed) head(f function) []string {
	types := map[string]string{}
	for _, b := range k.Buffers {
		types[b.Name] = b.Type + " *"
	}
	for _, s := range k.Open {
		types[s] = "int "
	}
	var params []string
	for _, a := range f.Arguments {
		params = append(params, types[a]+a)
	}
	return []string{strconv.Itoa(f.Block), f.Name, strings.Join(params, ", ")}
}

// oneLine drops what the manifest does not say: lines, and what is only read.
func oneLine(head []string) []string {
	out := slices.Clone(head)
	out[2] = strings.Join(strings.Fields(strings.ReplaceAll(out[2], "const ", "")), " ")
	return out
}

// TestRecurrences counts how recurrences and other loops over tokens are spread:
// none of an emitted unit is left to one block.
func TestRecurrences(t *testing.T) {
	if testing.Short() {
		t.Skip("a long series")
	}
	_, files := emitted(t)
	rows, blocks := 0, 0
	for name, text := range files {
		for _, part := range strings.Split(string(text), "\n\n") {
			switch {
			case strings.Contains(part, "one thread for each row"):
				rows++
			case strings.Contains(part, "One block;") && strings.Contains(part, "for ("):
				blocks++
				if !strings.Contains(part, "hecate::block_sum") {
					t.Errorf("%s: a nest runs in one block:\n%s", name, part)
				}
			}
		}
	}
	if rows < 6 {
		t.Errorf("%d recurrences have rows in threads, want those of three rules, forward and backward", rows)
	}
}

// TestAnySize: the text of a kernel with other sizes is the same but for the sizes, and a
// launch and the text know the same room for arrays.
func TestAnySize(t *testing.T) {
	for _, p := range load(t) {
		for _, x := range texts([]*program{p}) {
			other := map[string]int{}
			for s, n := range x.Defaults {
				other[s] = 3*n + 1
			}
			y := emitcuda.Kernel(x.Kernel, emitcuda.About{Unit: p.name, Page: "page.md", Equations: p.unit.Equations}, other)
			if sizesLine.ReplaceAllString(x.Code, "") != sizesLine.ReplaceAllString(y.Code, "") {
				t.Errorf("%s: the text follows from the sizes", x.Name)
			}
		}
	}
	_, header := emitcuda.Include()
	if room := fmt.Sprintf("kRoom = (96 << 10) - %d;", 96<<10-emitcuda.Room); !strings.Contains(string(header), room) {
		t.Errorf("hecate.cuh has no %q", room)
	}
}

var sizesLine = regexp.MustCompile(`(?m)^#define HECATE_SIZES.*`)
