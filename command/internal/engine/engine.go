// Package engine is what the commands ask of the part of the program that makes
// and runs models. The commands know these types and nothing behind them.
//
// A Builder is one build at some step; a Reader is a model whose parameters do
// not move, with one context; a Session is a reader on one text, which can be
// saved. All come from a Maker, which the rest of this package provides on top of
// what the program has.
//
//hecate:conductor
package engine

import (
	"context"

	"github.com/nl-hecate/hecate/command/internal/config"
)

// A Maker makes builders and readers.
type Maker interface {
	// World lists what there is by name.
	World() config.World
	// KnowsSize reports whether a name can be meant as a size of a model.
	KnowsSize(model, size string) bool
	// NewBuilder returns a build that goes on from the checkpoint at resume, or
	// begins if that is "". It writes nothing. What of the configuration cannot be
	// is an error at its place.
	NewBuilder(c *config.Loaded, resume string) (Builder, error)
	// Tokens returns what a configuration builds on.
	Tokens(c *config.Loaded) ([]int32, error)
	// NewReader opens the parameters of a checkpoint, with a new context. tokenizer
	// is a file, or "" for one beside the checkpoint.
	NewReader(checkpoint, tokenizer string) (Reader, error)
	// NewSession opens a checkpoint on what a text has, in calls of so many tokens,
	// 0 being those of the build. It goes on from the file at saved, if there is
	// one; what is saved there of other parameters or of another text is refused.
	NewSession(checkpoint string, text Text, chunk int, saved string) (Session, error)
	// Rate is the learning rate that an update has by itself, 0 if there is no such
	// update or it has none.
	Rate(update string) float64
	// Measure measures a checkpoint on a text.
	Measure(ctx context.Context, checkpoint string, text Text, chunk int) (Measured, error)
	// Steps returns how many updates a checkpoint has behind it. The error says
	// why it is no good checkpoint of a build.
	Steps(checkpoint string) (int, error)
}

// Text is what a checkpoint is to read: the paths of files of the kind that it was
// built on, none for the text that a build is given by default or for the
// synthetic source of the build; and a tokenizer, "" for one beside the checkpoint.
// A measurement reads the whole of files, and of what was there without any only what
// the build held out; HeldOut wants the same share of files.
type Text struct {
	Paths     []string
	Tokenizer string
	HeldOut   bool
}

// Measured is what a checkpoint was found to be on a text.
type Measured struct {
	Model string
	Step  int
	Text  string // what was read
	Whole bool   // all of it but the first token, and not only the held-out part
	Size  int    // of what was measured, in units
	Unit  string // byte, or token where there are no bytes
	Chunk int
	Bits  float64 // per unit
}

// A Builder is one build. It serves one goroutine.
type Builder interface {
	Info() Info
	// Done is how many updates there have been.
	Done() int
	// Bits are the losses of all of them, in bits for each unit.
	Bits() []float64
	// Step makes one update.
	Step() (Step, error)
	// Levels says how each level is behind the last step.
	Levels() ([]Level, error)
	// HeldOut measures the held-out part, in bits for each unit. The build goes on as
	// if it had not been asked.
	HeldOut(ctx context.Context) (float64, error)
	// Before is the held-out figure before the first step, if it was taken.
	Before() (bits float64, ok bool)
	// Sample draws tokens that go on after what was read, as text; it changes nothing.
	Sample(ctx context.Context, tokens int) ([]byte, error)
	// Tokenizer is the tokenizer.json of what is read, nil if that has none.
	Tokenizer() []byte
	// Save writes the whole state to path, all of it or nothing.
	Save(path string) error
	// Arena runs a chunk of all lanes forwards and backwards, on tokens that mean
	// nothing, and returns the bytes that the work takes. The build is as before.
	Arena() (bytes int, err error)
	// Close ends the build without saving.
	Close() error
}

// Info is what is known of a build before it begins.
type Info struct {
	Model      string  `json:"model"`
	Sizes      string  `json:"sizes"` // as name=value …
	Arithmetic string  `json:"arithmetic"`
	MovedBy    string  `json:"moved_by"` // the updates
	Periods    []int   `json:"periods"`  // of the levels
	Unit       string  `json:"unit"`     // what bits are for each of: byte, or token where there are no bytes
	Counts     string  `json:"counts"`   // what periods count: chunks or tokens
	Buffer     string  `json:"buffer"`   // what collects gradients that wait
	Params     []Param `json:"-"`
	States     int     `json:"-"` // numbers of context memory in a lane
	Lanes      int     `json:"lanes"`
	Chunk      int     `json:"chunk"`  // tokens of each lane
	Stream     string  `json:"stream"` // kind of it
	Text       string  `json:"text"`
	TextBytes  int     `json:"text_bytes"` // tokens, where the unit is one; so is HeldOut
	HeldOut    int     `json:"held_out_bytes"`
	Unigram    float64 `json:"unigram"` // bits for each unit, of the held-out part
	Bigram     float64 `json:"bigram"`
	Optimum    float64 `json:"optimum,omitempty"`   // of a source whose entropy is known
	Forgetful  float64 `json:"forgetful,omitempty"` // the best without the memory that it is about
}

// Param is a row of the parameter table.
type Param struct {
	Name  string
	Shape []int
	Size  int    // elements
	Block string // the part that it belongs to, "" for the model itself
	Level int
	Fixed bool
	Slots int // numbers that the update and the buffer keep for it
}

// Step is what one update did.
type Step struct {
	Step   int       // counts from 1
	Tokens int       // read since the beginning, by all lanes
	Nats   float64   // the loss before the update, per token
	Bits   float64   // the same in bits, for each unit of the info
	Rate   float64   // learning rate
	Norm   float64   // of the gradients that fired together, before they were clipped
	Norms  []float64 // of the gradient of each parameter as it was clipped, in the order of the table; valid until the next step
	Fires  []int     // by level: how often it has fired
	Levels []Level   // how each level is, where there are several; valid until the next step
}

// Level says how one level is behind a step.
type Level struct {
	Level     int     `json:"level"`
	Gated     bool    `json:"gated,omitempty"` // a gate of the page opens it
	Fires     int     `json:"fires"`
	Open      float64 `json:"open"`         // share of the lanes that found it open in this chunk
	Share     float64 `json:"open_share"`   // the same, over the chunks of this attempt
	Waiting   int     `json:"waiting"`      // gradients that wait for its next fire
	Ratio     float64 `json:"buffer_ratio"` // how long they are for so many: see module.Health
	Gradient  float64 `json:"grad_norm"`
	Parameter float64 `json:"param_norm"`
	State     float64 `json:"state_norm"`
}

// A Reader reads tokens with a memory that goes on, and says what comes next. It
// serves one goroutine.
type Reader interface {
	Info() Info
	// Encode turns text into tokens: through the tokenizer of the build, or, where
	// that had none, from numbers with spaces between them.
	Encode(text []byte) ([]int32, error)
	// Decode is what a token looks like; first is whether none came before it.
	Decode(id int32, first bool) ([]byte, error)
	// Read goes on in the context over tokens, of which one step of the schedule
	// takes so many as chunk says, and returns the nats of predicting them, each
	// from before it, and how many units that were; the first token of a context is
	// predicted by nothing and not counted.
	Read(ctx context.Context, ids []int32, chunk int) (nats float64, predicted int, err error)
	// Next returns the logits of what comes after the last token; there must be
	// one. They are valid until the next call.
	Next() ([]float32, error)
	// Fork returns a reader with a copy of the context.
	Fork() (Reader, error)
	// Hash is a digest of the context: equal contexts have equal ones.
	Hash() (string, error)
	// Position is how many tokens the context has seen.
	Position() int
}

// A Session reads one text to its end, with a memory that goes on, and can be
// saved between two calls. It serves one goroutine.
type Session interface {
	// Step reads the next call and returns the nats of predicting what follows, and
	// how many units that is. ok is false at the end of the text.
	Step() (nats float64, predicted int, ok bool, err error)
	// Position is how many tokens were read.
	Position() int
	// Hash is a digest of the context.
	Hash() (string, error)
	// Save writes memory, time and place, and names the parameters by their
	// digest.
	Save(path string) error
}
