// Package engine is what the commands ask of the part of the program that makes
// and runs models. The commands know these types and nothing behind them.
//
// A Builder is one build at some step; a Reader is a model whose parameters do
// not move, with one context. Both come from a Maker, which the rest of this
// package provides on top of what the program has.
package engine

import (
	"context"

	"github.com/nl-hecate/hecate/cmd/hecate/internal/config"
)

// A Maker makes builders and readers.
type Maker interface {
	// World lists what there is by name.
	World() config.World
	// KnowsSize reports whether a model has a size of this name.
	KnowsSize(model, size string) bool
	// Check says what of a configuration this program cannot do, or what of its
	// sizes and settings cannot be: an error at the place where it was asked for.
	Check(c *config.Loaded) error
	// NewBuilder returns a build that goes on from the checkpoint at resume, or
	// begins if that is "". It writes nothing.
	NewBuilder(c *config.Loaded, resume string) (Builder, error)
	// NewReader opens the parameters of a checkpoint, with a new context.
	NewReader(checkpoint string) (Reader, error)
	// Steps returns how many updates a checkpoint has behind it. The error says
	// why it is no good checkpoint of a build.
	Steps(checkpoint string) (int, error)
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
	// HeldOut measures the held-out part, in bits for each unit. The build goes on as
	// if it had not been asked.
	HeldOut(ctx context.Context) (float64, error)
	// Before is the held-out figure before the first step, if it was taken.
	Before() (bits float64, ok bool)
	// Sample draws text that goes on after what was read; it changes nothing.
	Sample(ctx context.Context, bytes int) ([]byte, error)
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
	Params     []Param `json:"-"`
	States     int     `json:"-"` // numbers of context memory in a lane
	Lanes      int     `json:"lanes"`
	Chunk      int     `json:"chunk"` // tokens of each lane
	Text       string  `json:"text"`
	TextBytes  int     `json:"text_bytes"` // tokens, where the unit is one; so is HeldOut
	HeldOut    int     `json:"held_out_bytes"`
	Unit       string  `json:"unit"`    // what bits are for each of: byte, or token where there are no bytes
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
	Slots int // numbers that the update keeps for it
}

// Step is what one update did.
type Step struct {
	Step   int       // counts from 1
	Tokens int       // read since the beginning, by all lanes
	Nats   float64   // the loss before the update, per token
	Bits   float64   // the same in bits, for each unit of the info
	Rate   float64   // learning rate
	Norm   float64   // of all gradients together, before they were clipped
	Norms  []float64 // of the gradient of each parameter as it was clipped, in the order of the table; valid until the next step
	Fires  []int     // by level: how often it has fired
	Gates  []Gate    // of the frequency gates, if there are any
}

// Gate is what a frequency gate did in a step.
type Gate struct {
	Level         int     `json:"level"`
	Mean          float64 `json:"mean"` // of its openings
	Lo            float64 `json:"lo"`
	Hi            float64 `json:"hi"`
	ActiveTokens  int     `json:"active_tokens"`
	DecidedTokens int     `json:"decided_tokens"`
}

// A Reader reads text with a memory that goes on, and says what comes next. It
// serves one goroutine.
type Reader interface {
	Info() Info
	// Read goes on in the context over bytes, in calls of so many tokens, and
	// returns the nats of predicting them, each from before it; the first byte
	// of a context is predicted by nothing and not counted.
	Read(ctx context.Context, text []byte, chunk int) (nats float64, predicted int, err error)
	// Next returns the logits of what comes after the last byte; there must be
	// one. They are valid until the next call.
	Next() ([]float32, error)
	// Fork returns a reader with a copy of the context.
	Fork() (Reader, error)
	// Hash is a digest of the context: equal contexts have equal ones.
	Hash() (string, error)
	// Position is how many bytes the context has seen.
	Position() int
	// Measure predicts every byte of a text once, the first from the byte
	// before, in fresh contexts, and returns bits per byte.
	Measure(ctx context.Context, before byte, text []byte, chunk int) (float64, error)
}
