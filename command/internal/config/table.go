// Package config is what a run can be told: keys in TOML, strictly read.
//
// The types in this file are the one table of keys. A field's tags say its name
// (key), its default (def), where it may lie (in, for numbers; one, for words)
// and what it means (doc). From them come the decoder and its messages, the
// defaults, the overrides of the command line, the JSON schema, the help, the
// commented default file and the canonical form.
//
// Whatever is wrong is a Problem with the place where it was written; all of a
// file are reported at once, and a configuration is returned only if there is
// none. Names that only the generated code knows (formulas, updates, buffers) come
// in as a World.
package config

import "time"

// A Config is a configuration with nothing left open.
type Config struct {
	Model  Model  `key:"model" doc:"what is built"`
	Levels Levels `key:"levels" doc:"how often the levels of the model fire"`
	Stream Stream `key:"stream" doc:"what is read, and how"`
	Update Update `key:"update" doc:"how the parameters move"`
	Build  Build  `key:"build" doc:"how long a build goes on, and what it keeps"`
	Report Report `key:"report" doc:"what is written about a run"`
	CPU    CPU    `key:"cpu" doc:"how numbers are computed"`
}

// Model says what is built.
type Model struct {
	Formula string         `key:"formula" def:"ZeroB" doc:"a named model, or the formula of one, such as ByteLM(MAG(CMS([DeltaRule, TitansLMM]), SlidingWindow(w = 32)))"`
	Sizes   map[string]int `key:"sizes" in:"0..16384" doc:"a size that differs from the model's own, parts under their names: d, attention.w, memory.2.d_k of a list's third part, memory.d_k of all"`
	Seed    uint64         `key:"seed" def:"1" doc:"of the first parameters and of samples"`
}

// Levels says how often the levels of the model fire.
type Levels struct {
	Periods []int  `key:"periods" in:"1..1073741824" doc:"of each level, the fastest first: it fires once in so many units; the first is 1, each other a multiple of the one before; none is what the model's page proposes"`
	Unit    string `key:"unit" def:"chunks" one:"chunks|tokens" doc:"what the periods count: calls of stream.chunk tokens, or tokens in however many calls"`
}

// Stream says what is read.
type Stream struct {
	Kind      string   `key:"kind" def:"bytes" one:"bytes|text|tokens|synthetic" doc:"bytes of a file, text through a tokenizer, a file of tokens, or a source with known entropy"`
	Path      []string `key:"path" doc:"the files; none is Newton's Opticks from the Go toolchain"`
	Source    string   `key:"source" doc:"for kind synthetic: mqar, copy, needle, dyck or piecewise, then the parameters that differ from its defaults, such as copy items=8; empty is copy"`
	Episodes  int      `key:"episodes" def:"4096" in:"2..1000000000" doc:"how long a synthetic source is"`
	Tokenizer string   `key:"tokenizer" doc:"a tokenizer.json, for kind text; for kind tokens the one that the files must be of"`
	Separator string   `key:"separator" doc:"what stands between two documents of a file; empty: a file is one document"`
	HeldOut   float64  `key:"held_out" def:"0.1" in:"0.001..0.5" doc:"share at the end that is measured and never built on"`
	Lanes     int      `key:"lanes" def:"8" in:"1..65536" doc:"stretches that are read side by side"`
	Chunk     int      `key:"chunk" def:"64" in:"1..1048576" doc:"tokens of each lane between two updates"`
}

// Update says how the parameters move.
type Update struct {
	Name     string             `key:"name" def:"AdamW" doc:"the update, by the name of its page"`
	LR       float64            `key:"lr" def:"0.0" in:"0.." doc:"learning rate; 0 is the page's own"`
	Clip     float64            `key:"clip" def:"0.0" in:"0.." doc:"bound of the norm of all gradients of a step; 0 is none"`
	Settings map[string]float64 `key:"settings" in:".." doc:"a setting that differs from the page's: beta_1, else.lr"`
	Buffer   string             `key:"buffer" def:"ErrorBuffer" doc:"what collects the gradients that wait for a level to fire, by the name of its page"`
}

// Build says how long a build goes on, and what it keeps.
type Build struct {
	Steps           int           `key:"steps" def:"2600" in:"1..1000000000" doc:"updates, those before a resume included"`
	Tokens          int           `key:"tokens" def:"0" in:"0.." doc:"build until so many tokens were read, instead of steps; 0: steps decide"`
	CheckpointEvery int           `key:"checkpoint_every" def:"0" in:"0.." doc:"steps between two checkpoints; 0: only at the end"`
	Keep            int           `key:"keep" def:"3" in:"1..1000000" doc:"checkpoints that stay, the newest"`
	KeepBest        bool          `key:"keep_best" def:"false" doc:"keep the checkpoint of the best held-out figure as well"`
	EvaluateEvery   int           `key:"evaluate_every" def:"0" in:"0.." doc:"steps between two held-out figures; 0: only before and after"`
	Sample          int           `key:"sample" def:"400" in:"0..1048576" doc:"bytes of text to draw at the end"`
	TimeLimit       time.Duration `key:"time_limit" def:"0s" in:"0.." doc:"save and end after so long, such as 19h30m; 0s: never"`
	Out             string        `key:"out" def:"out" doc:"folder for the checkpoints, the log and the plots"`
	Name            string        `key:"name" doc:"of the files in out; empty is the model's formula in letters, digits and dashes"`
	Resume          string        `key:"resume" def:"never" doc:"never, auto (the newest good checkpoint in out, or a fresh start) or a checkpoint, to go on bit for bit"`
	From            string        `key:"from" doc:"a checkpoint that only gives its parameters to a new build"`
}

// Report says what is written about a run.
type Report struct {
	JSONL       bool          `key:"jsonl" def:"true" doc:"a line of JSON for every step, in out"`
	TensorBoard bool          `key:"tensorboard" def:"false" doc:"event files for TensorBoard, in out/tensorboard"`
	Plots       bool          `key:"plots" def:"true" doc:"plots of the loss and of norms at the end, as SVG and PNG"`
	LogFormat   string        `key:"log_format" def:"text" one:"text|json" doc:"what is printed: text for people, or one JSON object for each line"`
	Interval    time.Duration `key:"interval" def:"5s" in:"0..24h" doc:"time between two lines of progress where there is no terminal; 0s is one for every step"`
}

// CPU says how numbers are computed.
type CPU struct {
	Level string `key:"level" def:"auto" one:"auto|portable|fma|avx2|avx512" doc:"arithmetic level; auto is the best of this machine, or HECATE_CPU"`
}
