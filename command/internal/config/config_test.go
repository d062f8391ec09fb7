package config

import (
	"encoding/json"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/nl-hecate/hecate/runtime/formula"
)

// pages are what a formula can name here.
var pages = formula.Table{
	"DeltaRule": {Kind: formula.Rule}, "Hebbian": {Kind: formula.Rule}, "SlidingWindow": {Kind: formula.Composition, Sizes: []string{"w"}},
	"MAG":    {Kind: formula.Composition, Parts: []formula.Part{{Name: "memory", Kind: formula.Rule}, {Name: "attention", Kind: formula.Composition}}},
	"ByteLM": {Kind: formula.Model, Parts: []formula.Part{{Name: "block", Kind: formula.Composition}}},
	"ZeroA":  {Kind: formula.Model}, "ZeroB": {Kind: formula.Model}, "GatedDeltaLM": {Kind: formula.Model},
}

var world = World{Updates: []string{"AdamW", "Muon"}, Buffers: []string{"ErrorBuffer", "ErrorBufferSum"}, Formula: func(text string) error {
	f, err := formula.Parse(text)
	if err == nil {
		_, err = pages.Bind(f, formula.Model)
	}
	return err
}}

// TestDefaults reads nothing, the starter file and the canonical form of the
// defaults: all are the same configuration.
func TestDefaults(t *testing.T) {
	want := Default()
	for name, file := range map[string]string{"empty": "", "starter": Starter(), "canonical": Format(want)} {
		got, err := Parse(name, []byte(file), nil, world)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if d := cmp.Diff(want, got.Config); d != "" {
			t.Errorf("%s:\n%s", name, d)
		}
	}
	if want.TotalSteps() != 2600 || want.Stream.HeldOut != 0.1 || want.Report.Interval != 5*time.Second || !want.Report.JSONL {
		t.Errorf("defaults were not taken from the tags: %+v", want)
	}
}

const whole = `
[model]
formula = "ByteLM(MAG(DeltaRule, SlidingWindow))"
sizes.d = 32
sizes.memory.d_k = 0x10
sizes."strange name" = 3
seed = 9_000

[levels]
periods = [1, 8]
unit = "tokens"

[stream]
path = ["a.txt", "b\t\"c\"\\.txt"]
kind = "text"
tokenizer = "t.json"
chunk = 80
separator = "\n\n"

[update]
name = "Muon"
lr = 1e-3
settings = { beta_1 = 0.9, else = { lr = 3 } }

[build]
time_limit = "19h30m"
resume = "auto"
keep_best = true
`

func TestRoundTrip(t *testing.T) {
	c, err := Parse("run.toml", []byte(whole), []Set{{"--set", "stream.lanes", "3"}, {"--set", "levels.periods", "1,8, 24"}, {"--set", "update.clip", "1"}}, world)
	if err != nil {
		t.Fatal(err)
	}
	printed := Format(c.Config)
	again, err := Parse("again", []byte(printed), nil, world)
	if err != nil {
		t.Fatalf("%v in\n%s", err, printed)
	}
	if d := cmp.Diff(c.Config, again.Config); d != "" {
		t.Errorf("printed and read again:\n%s", d)
	}
	if p := Format(again.Config); p != printed {
		t.Errorf("printed twice:\n%s", cmp.Diff(printed, p))
	}
	if !strings.Contains(printed, "\nclip = 1.0\n") || !strings.Contains(printed, "\nlr = 0.001\n") {
		t.Errorf("numbers are not printed as numbers:\n%s", printed)
	}
	if got, want := c.Levels, (Levels{[]int{1, 8, 24}, "tokens"}); !reflect.DeepEqual(got, want) {
		t.Errorf("levels %v, want %v", got, want)
	}
	if c.Model.Sizes["memory.d_k"] != 16 || c.Model.Sizes["strange name"] != 3 || c.Update.Settings["else.lr"] != 3 || c.Stream.Batch != 3 {
		t.Errorf("%+v", c.Config)
	}
}

// TestRandomRoundTrip prints and reads configurations of random values.
func TestRandomRoundTrip(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	word := func() string {
		letters := []rune("abcXYZ019 _-.\"\\'\n\t\r\x01ρ∈#=[]")
		out := make([]rune, 1+r.IntN(8))
		for i := range out {
			out[i] = letters[r.IntN(len(letters))]
		}
		return string(out)
	}
	for range 300 {
		c := Default()
		c.Stream.Path = []string{word(), word()}
		c.Stream.Separator, c.Build.Out, c.Build.Resume = word(), word(), word()
		c.Model.Seed, c.Stream.HeldOut, c.Update.LR = r.Uint64()>>1, 0.001+r.Float64()*0.4, r.ExpFloat64()*1e-5
		c.Build.TimeLimit = time.Duration(r.Int64N(1e15))
		c.Model.Sizes["d"], c.Update.Settings["else."+"lr"] = r.IntN(100), r.NormFloat64()
		got, err := Parse("", []byte(Format(c)), nil, world)
		if err != nil {
			t.Fatalf("%v in\n%s", err, Format(c))
		}
		if d := cmp.Diff(c, got.Config); d != "" {
			t.Fatal(d)
		}
	}
}

// TestProblems reads files with everything that can be wrong in them. In a case,
// lines with > are the file, those with $ the command line, the rest is what is
// said about them.
func TestProblems(t *testing.T) {
	data, err := os.ReadFile("testdata/problems.txt")
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	for _, c := range strings.Split(strings.TrimSuffix(string(data), "\n"), "\n\n") {
		var file strings.Builder
		var sets []Set
		for line := range strings.Lines(c + "\n") {
			if l, ok := strings.CutPrefix(line, "> "); ok {
				file.WriteString(l)
				out.WriteString(line)
			} else if l, ok := strings.CutPrefix(line, "$ --set "); ok {
				key, value, _ := strings.Cut(strings.TrimSuffix(l, "\n"), "=")
				sets = append(sets, Set{"--set " + strings.TrimSuffix(l, "\n"), key, value})
				out.WriteString(line)
			}
		}
		_, err := Parse("run.toml", []byte(file.String()), sets, world)
		if err == nil {
			t.Errorf("nothing is wrong with\n%s", c)
			continue
		}
		out.WriteString(err.Error() + "\n\n")
	}
	got := strings.TrimSuffix(out.String(), "\n")
	if os.Getenv("UPDATE") != "" {
		if err := os.WriteFile("testdata/problems.txt", []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if d := cmp.Diff(string(data), got); d != "" {
		t.Errorf("testdata/problems.txt (UPDATE=1 rewrites it):\n%s", d)
	}
}

// TestEveryKey gives every key a value of a wrong type and one outside its
// range, in a file and as an override, and wants a message that names it.
func TestEveryKey(t *testing.T) {
	for _, k := range Keys() {
		path := strings.ReplaceAll(k.Path, ".NAME", ".x")
		section, key, _ := strings.Cut(k.Path, ".")
		header := "[" + section + "]\n"
		key = strings.ReplaceAll(key, "NAME", "x")
		_, err := Parse("f", []byte(header+key+" = 2020-01-01\n"), nil, world)
		if err == nil || !strings.HasPrefix(err.Error(), "f:2:") || !strings.Contains(err.Error(), path+" is a date or time") {
			t.Errorf("%s as a date: %v", path, err)
		}
		if k.Type == "string" && len(k.OneOf) == 0 || k.Type == "list of strings" {
			continue
		}
		_, err = Parse("f", nil, []Set{{"--set", path, "-1q"}}, world)
		if err == nil || !strings.HasPrefix(err.Error(), "--set: "+path+" is ") && !strings.HasPrefix(err.Error(), "--set: "+path+" holds ") {
			t.Errorf("%s as -1q: %v", path, err)
		}
		if !strings.HasPrefix(k.Range, "at least") && !strings.Contains(k.Range, " to ") {
			continue
		}
		if k.Type == "list of whole numbers" {
			if _, err = Parse("f", nil, []Set{{"--set", path, "[1, 0]"}}, world); err == nil || !strings.Contains(err.Error(), path+" holds 0, must be 1 to ") {
				t.Errorf("%s with 0: %v", path, err)
			}
			continue
		}
		low := "-1"
		if k.Type == "duration" {
			low = "-1s"
		}
		if _, err = Parse("f", nil, []Set{{"--set", path, low}}, world); err == nil || !strings.Contains(err.Error(), path+" is "+low+", must be "+k.Range) {
			t.Errorf("%s below its range: %v", path, err)
		}
	}
}

func TestLoad(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run.toml")
	if err := os.WriteFile(path, []byte("model.seed = 3\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := Load(path, []Set{{"--lr", "update.lr", "0.5"}}, World{})
	if err != nil {
		t.Fatal(err)
	}
	if c.Model.Seed != 3 || c.Update.LR != 0.5 {
		t.Errorf("%+v", c)
	}
	if got, want := c.Wrong("model.seed", "no", "yes").Error(), path+":1:1: no; yes\n    1 | model.seed = 3\n      | ^^^^^^^^^^"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if _, err := Load(path+"x", nil, World{}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a missing file: %v", err)
	}
}

// TestSchema wants every key of the table in the schema, and nothing else.
func TestSchema(t *testing.T) {
	var s struct {
		Properties map[string]struct {
			Properties map[string]any
		}
	}
	if err := json.Unmarshal(Schema(), &s); err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, p := range s.Properties {
		n += len(p.Properties)
	}
	if n != len(Keys()) {
		t.Errorf("%d keys in the schema, %d in the table", n, len(Keys()))
	}
	for _, k := range Keys() {
		parts := strings.Split(k.Path, ".")
		if _, ok := s.Properties[parts[0]].Properties[parts[1]]; !ok {
			t.Errorf("%s is not in the schema", k.Path)
		}
		if k.Doc == "" || !strings.Contains(Help(), k.Path+"\n    "+k.Type) {
			t.Errorf("%s has no help", k.Path)
		}
	}
}

// FuzzParse holds the reader to its word on any bytes: a configuration that can
// be printed and read again, or problems; never a panic.
func FuzzParse(f *testing.F) {
	f.Add([]byte(whole))
	f.Add([]byte("levels = [{period = 1}, 3]"))
	f.Add([]byte("[[model]]\n[levels.x]\nmodel = 3\n[model]"))
	f.Add([]byte("[levels]\nperiods = [1, 3, 4]\n[model]\nformula = \"\"\"\\\n A(\\u00e9)\"\"\""))
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := Parse("f", data, nil, World{Formula: world.Formula})
		if err != nil {
			_ = err.Error()
			return
		}
		again, err := Parse("again", []byte(Format(c.Config)), nil, World{})
		if err != nil || Format(again.Config) != Format(c.Config) {
			t.Errorf("%v in\n%s", err, Format(c.Config))
		}
	})
}
