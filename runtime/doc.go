// Package runtime is the folder of the packages that generated code and programs run
// on. It is empty; these are the packages below it.
//
// For programs that build or use a model:
//
//   - catalog: the pages (rules, compositions, models, updates) that a program knows, and
//     models made of their formulas
//   - module: a model that runs: Process, Update, sessions, checkpoints, generation
//   - stream: token ids from files, memory or a computed source, in chunks and batches
//   - tokenizer: bytes; byte-level BPE from and to tokenizer.json
//   - synthetic: token sources with a known optimal loss
//   - pulse: the clock, and the schedule of the levels
//   - conductor: clock and stream, advanced and saved together
//   - context: parameters, inner state and context memory with their lifetimes
//   - checkpoint: safetensors files with digests, written atomically
//   - update: what every update (optimizer) implements; a step count per parameter; the
//     schedule of the learning rate by steps of the run
//   - sample: the next token from logits, by temperature, top-k, top-p and penalty
//   - formula: the text form of a model
//   - knobs: which choices of the knobs of a memory rule go together
//   - cpu: the instruction set of the kernels, chosen at start
//   - gradcheck: gradients against finite differences
//   - reconcile: keeps several processes at one pulse; a state machine without a network
//
// For generated code, and for programs that call generated blocks directly:
//
//   - block: how compositions call their parts; context memory
//   - tape: the tape of reverse-mode differentiation, and its arena
//   - tensor: shapes, aligned memory
//   - num: the portable arithmetic and elementary functions
//   - workers: the parts of one kernel on several cores
package runtime
