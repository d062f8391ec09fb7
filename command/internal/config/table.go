// Package config reads the configuration of a run: keys in TOML, strictly decoded.
//
// The types in this file are the one table of keys. A field's tags are its name
// (key), its default (def), its range (in, for numbers; one, for words) and its
// meaning (doc). From them come the decoder and its messages, the defaults, the
// overrides of the command line, the JSON schema, the help, the commented default
// file and the canonical form.
//
// Every error is a Problem with its position; all errors of a file are reported at
// once, and a configuration is returned only without errors. Names that only the
// generated code knows (formulas, updates, buffers) are passed in as a World.
package config

import (
	"time"

	"github.com/nl-hecate/hecate/runtime/sample"
)

// A Config is a configuration in which every key has a value.
type Config struct {
	Model  Model  `key:"model" doc:"the model"`
	Levels Levels `key:"levels" doc:"how often the levels of the model are updated"`
	Stream Stream `key:"stream" doc:"the input"`
	Update Update `key:"update" doc:"the update (optimizer) of the parameters"`
	Build  Build  `key:"build" doc:"the length of a build, and its checkpoints"`
	Sample Sample `key:"sample" doc:"how the sample at the end of a build is drawn"`
	Report Report `key:"report" doc:"the reports of a run"`
	CPU    CPU    `key:"cpu" doc:"the arithmetic"`
}

// Model is the model.
type Model struct {
	Formula string         `key:"formula" def:"GatedDeltaLM" doc:"a named model, or the formula of one, such as ByteLM(MAG(CMS([DeltaRule, TitansLMM]), SlidingWindow(w = 32)))"`
	Sizes   map[string]int `key:"sizes" in:"0..16384" doc:"a size that differs from the model's default, with the name of its part: d, attention.w, memory.2.d_k for the third part of a list, memory.d_k for all of them"`
	Seed    uint64         `key:"seed" def:"1" doc:"random seed of the initial parameters and of samples"`
}

// Levels says how often the levels of the model are updated.
type Levels struct {
	Periods []int  `key:"periods" in:"1..1073741824" doc:"of each level, the fastest first, in units: the level is updated once per period; the first is 1, each other a multiple of the one before; an empty list takes the proposal of the model's page"`
	Unit    string `key:"unit" def:"chunks" one:"chunks|tokens" doc:"unit of the periods: chunks of stream.chunk tokens, or tokens"`
}

// Stream is the input.
type Stream struct {
	Kind      string   `key:"kind" def:"bytes" one:"bytes|text|tokens|synthetic" doc:"bytes of a file, text through a tokenizer, a file of tokens, or a source with known entropy"`
	Path      []string `key:"path" doc:"the files; an empty list is Newton's Opticks from the Go toolchain"`
	Source    string   `key:"source" doc:"for kind synthetic: mqar, copy, needle, dyck or piecewise, then the parameters that differ from its defaults, such as copy items=8; empty is copy"`
	Episodes  int      `key:"episodes" def:"4096" in:"2..1000000000" doc:"length of a synthetic source"`
	Tokenizer string   `key:"tokenizer" doc:"a tokenizer.json: for kind text the tokenizer, for kind tokens the one that the files must be made with"`
	Separator string   `key:"separator" doc:"text between two documents of a file; empty: a file is one document"`
	HeldOut   float64  `key:"held_out" def:"0.1" in:"0.001..0.5" doc:"share at the end that is held out: measured and never built on"`
	Batch     int      `key:"lanes" def:"8" in:"1..65536" doc:"batch size: sequences that are read in parallel"`
	Chunk     int      `key:"chunk" def:"64" in:"1..1048576" doc:"tokens of each sequence in one call of the model; between two updates there are build.gradient_chunks of them"`
}

// Update is the update (optimizer) of the parameters.
type Update struct {
	Name     string             `key:"name" def:"AdamW" doc:"the update, by the name of its page"`
	LR       float64            `key:"lr" def:"0.0" in:"0.." doc:"learning rate at its highest; 0 is the page's default"`
	Schedule string             `key:"schedule" def:"wsd" one:"constant|cosine|wsd" doc:"the learning rate after the warm-up, by steps of the run for every level: constant, falling along half a cosine, or stable and then falling linearly over decay_share (warm-up, stable, decay)"`
	WarmUp   float64            `key:"warmup" def:"0.0" in:"0.." doc:"steps over which the learning rate rises; below 1 a share of the run; 0: 50 steps, at most a tenth of the run"`
	Decay    float64            `key:"decay_share" def:"0.2" in:"0..1" doc:"share of the run over which the rate of schedule wsd falls"`
	Final    float64            `key:"final" def:"0.05" in:"0..1" doc:"learning rate at the end, as a share of the highest"`
	Power    float64            `key:"level_power" def:"0.0" in:"-0.5..1" doc:"the learning rate of a level is multiplied by its period, in steps, to this power: 0 is one rate for all levels, 0.5 the root of the period"`
	Clip     float64            `key:"clip" def:"1.0" in:"0.." doc:"gradient clipping: bound of the norm of all gradients of a step; 0 is none"`
	NoDecay  []string           `key:"no_decay" one:"matrices|embeddings|vectors" doc:"kinds of parameters without weight decay, besides those that their page marks nodecay; embeddings are matrices that their page marks entrywise; settings.lambda is the weight decay"`
	Settings map[string]float64 `key:"settings" in:".." doc:"a setting that differs from the page's default: beta_1, lambda, else.lr"`
	Buffer   string             `key:"buffer" def:"ErrorBuffer" doc:"the buffer that accumulates the gradients of a level until it is updated, by the name of its page"`
}

// Build is the length of a build, and its checkpoints.
type Build struct {
	Steps           int           `key:"steps" def:"0" in:"0..1000000000" doc:"number of updates, including those before a resume; 0: 2600, or as many as time_limit allows"`
	Tokens          int           `key:"tokens" def:"0" in:"0.." doc:"number of tokens to read, instead of steps; 0: steps decide"`
	Device          string        `key:"device" def:"cpu" doc:"where the model computes: cpu, cuda, cuda:N (the GPU of that number), or auto (a GPU if there is one that can be used); a GPU computes other bits than the processor"`
	Precision       string        `key:"precision" def:"float32" one:"float32|bf16" doc:"of the operands of matrix products and attention: float32, or bf16, which rounds them to bfloat16; parameters, sums, states, gates and gradients are float32"`
	GradientChunks  int           `key:"gradient_chunks" def:"1" in:"1..65536" doc:"chunks that one gradient spans (truncated backpropagation through time): that many chunks are read between two updates, and the gradient crosses their edges"`
	CheckpointEvery int           `key:"checkpoint_every" def:"0" in:"0.." doc:"steps between two checkpoints; 0: a tenth of the build, at least 200, and only the one of the end stays"`
	Keep            int           `key:"keep" def:"3" in:"1..1000000" doc:"number of newest checkpoints to keep"`
	KeepBest        bool          `key:"keep_best" def:"true" doc:"where evaluate_every is set, also keep the checkpoint with the best held-out loss"`
	EvaluateEvery   int           `key:"evaluate_every" def:"0" in:"0.." doc:"steps between two measurements of the held-out loss; 0: only before and after"`
	Sample          int           `key:"sample" def:"400" in:"0..1048576" doc:"bytes of text to draw at the end"`
	TimeLimit       time.Duration `key:"time_limit" def:"0s" in:"0.." doc:"save, measure and end after this time, such as 19h30m; a falling learning rate falls until then; 0s: never"`
	Out             string        `key:"out" def:"out" doc:"folder for the checkpoints, the log and the plots"`
	Name            string        `key:"name" doc:"name of the files in out; empty is the model's formula in letters, digits and dashes"`
	Resume          string        `key:"resume" def:"never" doc:"never, auto (the newest good checkpoint in out, or a fresh start) or a checkpoint, to resume: bit for bit on the same device"`
	From            string        `key:"from" doc:"a checkpoint whose parameters a new build begins with"`
}

// BF16 is the precision in which operands of products are rounded to bfloat16.
const BF16 = "bf16"

// Sample says how the sample at the end of a build is drawn.
type Sample struct {
	Temperature float64 `key:"temperature" def:"0.8" in:"0..100" doc:"divides the logits; 0 always takes the most probable token"`
	TopK        int     `key:"top_k" def:"0" in:"0..2147483647" doc:"draw among this number of most probable tokens; 0: all"`
	TopP        float64 `key:"top_p" def:"0.95" in:"0..1" doc:"nucleus sampling: draw among the most probable tokens that have this probability together; 0 or 1: all"`
	MinP        float64 `key:"min_p" def:"0.0" in:"0..1" doc:"draw among tokens with at least this share of the highest probability"`
	Penalty     float64 `key:"repeat_penalty" def:"1.0" in:"0..100" doc:"divides the logits of tokens that came lately, if they are positive, else multiplies them; 0 or 1: none"`
	Window      int     `key:"repeat_window" def:"64" in:"0..2147483647" doc:"the last tokens that repeat_penalty counts; 0: all"`
}

// Report is the reports of a run.
type Report struct {
	JSONL       bool          `key:"jsonl" def:"true" doc:"a line of JSON for every step, in out"`
	TensorBoard bool          `key:"tensorboard" def:"false" doc:"event files for TensorBoard, in out/tensorboard"`
	Plots       bool          `key:"plots" def:"true" doc:"plots of the loss and of norms at the end, as SVG and PNG"`
	Profile     bool          `key:"profile" def:"false" doc:"at the end a table of the time of each unit and operation, printed and in out"`
	LogFormat   string        `key:"log_format" def:"text" one:"text|json" doc:"format of the output: text, or one JSON object per line"`
	Interval    time.Duration `key:"interval" def:"5s" in:"0..24h" doc:"time between two lines of progress without a terminal; 0s: a line for every step"`
}

// CPU is the arithmetic.
type CPU struct {
	Level string `key:"level" def:"auto" one:"auto|TARGETS" doc:"instruction set of the kernels; auto is the best of this machine, or HECATE_CPU"`
}

// defaultSteps is the length of a build that nothing else limits.
const defaultSteps = 2600

// PerStep is the number of tokens of one update.
func (c *Config) PerStep() int { return c.Stream.Batch * c.Stream.Chunk * c.Build.GradientChunks }

// TotalSteps is the number of updates of a build, 0 if only the time limit decides it.
func (c *Config) TotalSteps() int {
	switch per := c.PerStep(); {
	case c.Build.Tokens > 0:
		return (c.Build.Tokens + per - 1) / per
	case c.Build.Steps == 0 && c.Build.TimeLimit == 0:
		return defaultSteps
	}
	return c.Build.Steps
}

// Settings are the settings of a sample.
func (s Sample) Settings(seed uint64) sample.Settings {
	return sample.Settings{Temperature: s.Temperature, TopK: s.TopK, TopP: s.TopP, MinP: s.MinP, Penalty: s.Penalty, Window: s.Window, Seed: seed}
}
