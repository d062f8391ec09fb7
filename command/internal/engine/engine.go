// Package engine makes and runs models for the commands, which use only its
// interfaces.
//
// A Builder is one build at some step; a Reader is a model with fixed parameters and
// one context; a Session is a reader of one text, which can be saved. All are made by
// a Maker; Modules implements it for the models of a catalog.
//
//hecate:conductor
package engine

import (
	"context"

	"github.com/nl-hecate/hecate/command/internal/config"
	"github.com/nl-hecate/hecate/runtime/tape"
	"github.com/nl-hecate/hecate/runtime/update"
)

// A Maker makes builders and readers.
type Maker interface {
	// World lists the known names.
	World() config.World
	// KnowsSize reports whether a name is a size of a model.
	KnowsSize(model, size string) bool
	// NewBuilder returns a build that resumes from the checkpoint at resume, or a
	// new one if that is "". It writes nothing. An invalid key of the configuration
	// is an error at its place.
	NewBuilder(c *config.Loaded, resume string) (Builder, error)
	// Needs are the kernels that a build runs on a device, and the memory that they take there.
	Needs(c *config.Loaded) (Needs, error)
	// Tokens returns the tokens that a configuration builds on.
	Tokens(c *config.Loaded) ([]int32, error)
	// NewReader opens the parameters of a checkpoint, with a new context. tokenizer
	// is a file, or "" for the one saved with the checkpoint; device is where the
	// model computes, "" is the processor.
	NewReader(checkpoint, tokenizer, device string) (Reader, error)
	// NewSession opens a checkpoint on a text, in calls of chunk tokens (0: as in the
	// build). It resumes from the file at saved, if it exists; a session of other
	// parameters or of another text is refused.
	NewSession(checkpoint string, text Text, chunk int, saved string) (Session, error)
	// Rate is the default learning rate of an update, 0 if there is no such update or
	// it has none.
	Rate(update string) float64
	// Measure measures a checkpoint on a text.
	Measure(ctx context.Context, checkpoint string, text Text, chunk int) (Measured, error)
	// Steps returns the number of updates of a checkpoint. The error says why it is
	// not a valid checkpoint of a build.
	Steps(checkpoint string) (int, error)
}

// Text is the input of a checkpoint: the paths of files of the kind that it was built
// on, none for the default text or for the synthetic source of the build; and a
// tokenizer, "" for the one saved with the checkpoint. A measurement reads files
// completely, and of the default text or source only the part that the build held
// out; with HeldOut it reads that share of files, too.
type Text struct {
	Paths     []string
	Tokenizer string
	HeldOut   bool
	Device    string // where the model computes; "" is the processor
}

// Measured is the loss of a checkpoint on a text.
type Measured struct {
	Model     string
	Step      int
	Text      string // description of the text
	Whole     bool   // all of it except the first token, not only the held-out part
	Size      int    // of the measured part, in units
	Unit      string // byte, or token without bytes
	Chunk     int
	Bits      float64 // per unit
	Fallback  string  // as in Info
	Precision string  // as in Info
}

// A Builder is one build. It serves one goroutine.
type Builder interface {
	Info() Info
	// Done is the number of updates so far.
	Done() int
	// Bits are the losses of all updates, in bits per unit.
	Bits() []float64
	// Step makes one update.
	Step() (Step, error)
	// Levels describes each level after the last step.
	Levels() ([]Level, error)
	// HeldOut measures the held-out part, in bits per unit. The build does not change.
	HeldOut(ctx context.Context) (float64, error)
	// Before is the held-out loss before the first step, if it was measured.
	Before() (bits float64, ok bool)
	// Sample draws tokens that continue the text that was read; it changes nothing.
	Sample(ctx context.Context, tokens int) ([]byte, error)
	// Schedule is the schedule of the learning rate; its steps are 0 until they are decided.
	Schedule() update.Schedule
	// Decide sets the number of steps of a schedule that has none.
	Decide(steps int) error
	// Profiled is the time of each unit and operation, and the number of updates that it is
	// of; none unless the configuration asks for a profile.
	Profiled() (rows []tape.Spent, updates int)
	// Tokenizer is the tokenizer.json of the input, nil without a tokenizer.
	Tokenizer() []byte
	// Save writes the whole state to path, all of it or nothing.
	Save(path string) error
	// Arena runs a chunk of the whole batch forwards and backwards, on arbitrary
	// tokens, and returns the bytes that it needs. The build does not change.
	Arena() (bytes int, err error)
	// Close ends the build without saving.
	Close() error
}

// ArithmeticText is the arithmetic in words, with the precision where that is not float32.
func (i Info) ArithmeticText() string {
	if i.Precision == config.BF16 {
		return i.Arithmetic + " arithmetic with operands in bf16"
	}
	return i.Arithmetic + " arithmetic"
}

// Info describes a build before it begins.
type Info struct {
	Model      string  `json:"model"`
	Sizes      string  `json:"sizes"` // as name=value …
	Arithmetic string  `json:"arithmetic"`
	Precision  string  `json:"precision"`          // of the operands of products: float32 or bf16
	Device     string  `json:"device"`             // that computes: an instruction set, or a GPU
	Fallback   string  `json:"fallback,omitempty"` // why the processor does, where a GPU was asked for
	MovedBy    string  `json:"moved_by"`           // the updates
	Periods    []int   `json:"periods"`            // of the levels
	Unit       string  `json:"unit"`               // of the bits: byte, or token without bytes
	Counts     string  `json:"counts"`             // unit of the periods: chunks or tokens
	Buffer     string  `json:"buffer"`             // the update that buffers gradients
	Params     []Param `json:"-"`
	OnDevice   int     `json:"device_bytes,omitempty"` // of a GPU's memory
	States     int     `json:"-"`                      // numbers of context memory of a sequence
	Batch      int     `json:"lanes"`
	Chunk      int     `json:"chunk"` // tokens of each sequence
	Across     int     `json:"gradient_chunks,omitempty"`
	Stream     string  `json:"stream"` // kind of it
	Text       string  `json:"text"`
	TextBytes  int     `json:"text_bytes"` // tokens, where the unit is one; so is HeldOut
	HeldOut    int     `json:"held_out_bytes"`
	Built      int     `json:"built_tokens"`    // of the part that is built on
	Steps      int     `json:"steps,omitempty"` // of the whole build, 0 if the time limit decides it
	Rates      string  `json:"schedule"`        // of the learning rate
	Rate       float64 `json:"lr"`              // at its highest
	Clip       float64 `json:"clip"`
	Unigram    float64 `json:"unigram"` // bits per unit, of the held-out part
	Bigram     float64 `json:"bigram"`
	Optimum    float64 `json:"optimum,omitempty"`   // of a source whose entropy is known
	Forgetful  float64 `json:"forgetful,omitempty"` // the optimum without memory
}

// PerStep is the number of tokens of one update.
func (i *Info) PerStep() int { return i.Batch * i.Chunk * max(i.Across, 1) }

// Epochs is how often a number of steps reads the part that is built on.
func (i *Info) Epochs(steps int) float64 {
	return float64(steps) * float64(i.PerStep()) / float64(max(i.Built, 1))
}

// Param is a row of the parameter table.
type Param struct {
	Name  string
	Shape []int
	Size  int    // elements
	Block string // the part that it belongs to, "" for the model itself
	Level int
	Fixed bool
	Slots int // numbers of state of the update and the buffer
}

// Step is the result of one update.
type Step struct {
	Step    int       // counts from 1
	Tokens  int       // read since the beginning, by the whole batch
	Nats    float64   // the loss before the update, per token
	Bits    float64   // the same in bits per unit of the info
	Rate    float64   // learning rate
	Norm    float64   // of the gradients of the parameters that were updated together, before they were clipped
	Norms   []float64 // of the gradient of each parameter as it was clipped, in the order of the table; valid until the next step
	Updates []int     // by level: number of updates so far
	Levels  []Level   // of models with more than one level; valid until the next step
}

// Level describes one level after a step.
type Level struct {
	Level     int     `json:"level"`
	Gated     bool    `json:"gated,omitempty"` // a gate of the page opens it
	Updates   int     `json:"fires"`
	Open      float64 `json:"open"`         // share of the sequences that found it open in this chunk
	Share     float64 `json:"open_share"`   // the same, over the chunks of this attempt
	Waiting   int     `json:"waiting"`      // gradients buffered until it is updated
	Ratio     float64 `json:"buffer_ratio"` // their normalised norm: see module.Health
	Gradient  float64 `json:"grad_norm"`
	Parameter float64 `json:"param_norm"`
	State     float64 `json:"state_norm"`
}

// A Reader reads tokens in one context and predicts the next one. It serves one
// goroutine.
type Reader interface {
	Info() Info
	// Encode converts text to tokens: with the tokenizer of the build or, without one,
	// from ids separated by spaces.
	Encode(text []byte) ([]int32, error)
	// Decode is the text of a token; first is whether it is the first one.
	Decode(id int32, first bool) ([]byte, error)
	// Read appends tokens to the context, chunk of them to a step of the schedule, and
	// returns the nats of predicting them and the number of units; the first token of
	// a context is not predicted and not counted.
	Read(ctx context.Context, ids []int32, chunk int) (nats float64, predicted int, err error)
	// Next returns the logits of the token after the last one; there must be one. They
	// are valid until the next call.
	Next() ([]float32, error)
	// Fork returns a reader with a copy of the context.
	Fork() (Reader, error)
	// Hash is a digest of the context: equal contexts have equal ones.
	Hash() (string, error)
	// Position is the number of tokens that the context has seen.
	Position() int
	// Close gives the device back; forks are of no use then.
	Close() error
}

// A Session reads one text to its end in one context, and can be saved between two
// calls. It serves one goroutine.
type Session interface {
	// Step reads the next chunk and returns the nats of predicting the next tokens and
	// the number of units. ok is false at the end of the text.
	Step() (nats float64, predicted int, ok bool, err error)
	// Position is the number of tokens read.
	Position() int
	// Hash is a digest of the context.
	Hash() (string, error)
	// Save writes memory, pulse and position, and names the parameters by their
	// digest.
	Save(path string) error
	// Close gives the device back.
	Close() error
}
