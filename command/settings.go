package command

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/nl-hecate/hecate/command/internal/config"
	"github.com/nl-hecate/hecate/command/internal/engine"
	"github.com/nl-hecate/hecate/runtime/cpu"
	"github.com/spf13/cobra"
)

// settings are the flags that make a configuration: a file or a preset, and overrides in
// the order of the command line. Most flags are shorthands for a key.
type settings struct {
	file, preset string
	sets         []config.Set
}

// A setter is a flag that overrides a key: a fixed one, or the one that its value
// names.
type setter struct {
	s      *settings
	flag   string
	key    string // the key, or a prefix of the name in "name=value"
	named  bool
	sample string // the type, for the help
}

func (v *setter) String() string { return "" }
func (v *setter) Type() string   { return v.sample }

// Set takes one value of the flag.
func (v *setter) Set(value string) error {
	x := config.Set{Flag: v.flag, Key: v.key, Value: value}
	if v.named {
		name, rest, ok := strings.Cut(value, "=")
		if !ok || name == "" {
			return fmt.Errorf("want name=value")
		}
		x = config.Set{Flag: v.flag + " " + value, Key: v.key + inASCII(name), Value: rest}
	}
	v.s.sets = append(v.s.sets, x)
	return nil
}

// shorthands are flags for keys that are set often. Each says which key it is, so
// that the table of keys stays the only place with defaults and ranges.
var shorthands = []struct{ flag, key, kind, doc string }{
	{"model", "model.formula", "formula", "the model: a name or a formula"},
	{"text", "stream.path", "file", "text to build on"},
	{"steps", "build.steps", "number", "number of updates; by default 2600, or as many as --time-limit allows"},
	{"tokens", "build.tokens", "number", "number of tokens to read, instead of steps"},
	{"lanes", "stream.lanes", "number", "batch size: sequences of the text that are read in parallel"},
	{"chunk", "stream.chunk", "tokens", "of each sequence between two updates"},
	{"update", "update.name", "name", "the update"},
	{"lr", "update.lr", "rate", "learning rate"},
	{"schedule", "update.schedule", "name", "of the learning rate after its warm-up: constant, cosine or wsd"},
	{"warmup", "update.warmup", "steps", "over which the learning rate rises, or a share of the run; by default 50, at most a tenth of the run"},
	{"clip", "update.clip", "bound", "gradient clipping: bound of the norm of all gradients of a step"},
	{"seed", "model.seed", "seed", "random seed of the initial parameters and of the sample"},
	{"device", "build.device", "name", "where the model computes: cpu, cuda, cuda:N or auto"},
	{"precision", "build.precision", "type", "of the operands of products: float32 or bf16"},
	{"out", "build.out", "folder", "for checkpoints, log and plots"},
	{"resume", "build.resume", "path", "auto, or a checkpoint to resume from, bit for bit"},
	{"sample", "build.sample", "bytes", "of text to draw at the end"},
	{"time-limit", "build.time_limit", "time", "save, measure and end after this time, such as 19h30m"},
	{"log-format", "report.log_format", "format", "text or json"},
}

// flags adds the flags to a command, without the shorthands for keys of unused
// tables.
func (s *settings) flags(c *cobra.Command, maker engine.Maker, unused ...string) {
	f := c.Flags()
	f.StringVarP(&s.file, "config", "c", "", "`file` with a configuration, in TOML")
	f.StringVar(&s.preset, "preset", "", "`name` of a configuration of the program, instead of a file; hecate presets lists them")
	f.Var(&setter{s: s, flag: "--set", named: true, sample: "key=value"}, "set", "override a key, such as update.lr=1e-3 or levels.periods=1,8, or a size of the model, such as memory.d_k=32; may be repeated")
	f.Var(&setter{s: s, flag: "--with", key: "update.settings.", named: true, sample: "name=value"}, "with", "a setting of the update, such as beta_1=0.95 (update.settings); may be repeated")
	defaults := map[string]string{}
	for _, k := range config.Keys() {
		defaults[k.Path] = k.Default
	}
	for _, h := range shorthands {
		if table, _, _ := strings.Cut(h.key, "."); slices.Contains(unused, table) {
			continue
		}
		doc := fmt.Sprintf("%s (%s", h.doc, h.key)
		switch d := defaults[h.key]; {
		case h.key == "update.lr":
			name := config.Default().Update.Name
			doc += fmt.Sprintf(", by default that of the update: %v for %s", maker.Rate(name), name)
		case strings.Contains(h.doc, "by default"):
		case d == "0" || d == "0.0" || d == `"0s"`:
			doc += ", by default none"
		case d != "" && d != `""` && d != "[]":
			doc += ", by default " + d
		}
		f.Var(&setter{s: s, flag: "--" + h.flag, key: h.key, sample: h.kind}, h.flag, doc+")")
	}
	_ = c.MarkFlagFilename("config", "toml") // the flag was added above
	s.complete(c, maker.World())
}

// complete offers values to a shell that completes.
func (s *settings) complete(c *cobra.Command, w config.World) {
	offer := map[string][]string{"preset": presetNames, "model": w.Models, "update": w.Updates, "resume": {"auto", "never"}}
	for _, k := range config.Keys() {
		for _, h := range shorthands {
			if h.key == k.Path && len(k.OneOf) > 0 {
				offer[h.flag] = k.OneOf
			}
		}
	}
	for flag, words := range offer {
		_ = c.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(words, cobra.ShellCompDirectiveDefault)) // it has the flag
	}
}

// load reads the file and the overrides, and sets the instruction set.
func (s *settings) load(maker engine.Maker) (*config.Loaded, error) {
	world := maker.World()
	c, err := s.read(s.sized(maker, world), world)
	if err != nil {
		return nil, err
	}
	if c.CPU.Level == "auto" {
		return c, nil
	}
	for _, l := range cpu.Targets() {
		if l.String() != c.CPU.Level {
			continue
		}
		if _, err := cpu.Force(l); err != nil {
			return nil, c.Wrong("cpu.level", err.Error(), "hecate devices lists the instruction sets")
		}
	}
	return c, nil
}

// lengths are the keys that say how long a build is. One on the command line replaces the
// length of a preset.
var lengths = []string{"build.steps", "build.tokens", "build.time_limit"}

// read reads the file or the preset, and the overrides.
func (s *settings) read(sets []config.Set, world config.World) (*config.Loaded, error) {
	switch {
	case s.preset == "":
		return config.Load(s.file, sets, world)
	case s.file != "":
		return nil, misuse{errors.New("--preset and --config are both given; hecate presets NAME prints a preset, which a file can contain")}
	}
	data, err := preset(s.preset)
	if err != nil {
		return nil, err
	}
	if slices.ContainsFunc(sets, func(x config.Set) bool { return slices.Contains(lengths, x.Key) }) {
		sets = append([]config.Set{{Flag: "--preset", Key: "build.steps", Value: "0"}}, sets...)
	}
	return config.Parse("preset "+s.preset, data, sets, world)
}

// sized turns the size of a model, given by its name alone, into its key.
func (s *settings) sized(maker engine.Maker, world config.World) []config.Set {
	model := config.Default().Model.Formula
	if c, err := s.read(nil, world); err == nil {
		model = c.Model.Formula
	}
	for _, x := range s.sets {
		if x.Key == "model.formula" {
			model = x.Value
		}
	}
	var out []config.Set
	for _, x := range s.sets {
		if first, _, _ := strings.Cut(x.Key, "."); !config.IsTable(first) && maker.KnowsSize(model, x.Key) {
			x.Key = "model.sizes." + x.Key
		}
		out = append(out, x)
	}
	return out
}
