package tokenizer

import (
	"fmt"
	"math"
	"sync"

	"golang.org/x/text/unicode/norm"
)

// A Merge makes one token of two.
type Merge struct{ Left, Right int32 }

// A Spec is all that a BPE consists of.
type Spec struct {
	Split        Split
	PrefixSpace  bool     // text that begins with no space gets one; Uncut and GPT2 only
	IgnoreMerges bool     // a piece that is a token is that token, whatever the merges say
	Tokens       [][]byte // by id; nil where only an added token has the id
	Merges       []Merge  // in order
	Added        []Added
	NFC          bool    // text is brought into the normal form NFC first
	Before       []int32 // special tokens in front of a document
	After        []int32 // and after it
}

// A BPE is a byte-level byte-pair encoding. A piece begins as its bytes; as
// long as two neighbours are a merge, the one that is listed first, and of
// equal ones the leftmost, becomes one token.
//
// The pairs of a piece wait in a heap, by merge and place. One that is taken
// out and is not there any more, because a neighbour was merged, is dropped; a
// merge adds the two pairs that it makes. So a piece of n bytes takes
// O(n log n), also if it is a whole text.
type BPE struct {
	spec    Spec
	bytes   [byteTokens]int32 // the id of every byte
	merges  map[Merge]result
	whole   map[string]int32 // of Tokens, for IgnoreMerges
	extra   map[int32]Added  // by id
	added   added
	digest  [4]uint64
	scratch sync.Pool // *piece
}

// A result is the place of a merge in the list and what it makes.
type result struct{ rank, id int32 }

// New makes a BPE that keeps the spec, which nobody may change any more. The
// error says what in it does not fit: a byte without a token, two equal tokens,
// a merge whose result is not a token, ids that leave a hole.
func New(s Spec) (*BPE, error) {
	b := &BPE{spec: s, merges: map[Merge]result{}, whole: map[string]int32{}, extra: map[int32]Added{}}
	b.scratch.New = func() any { return &piece{} }
	if s.Split < Uncut || s.Split > O200K {
		return nil, fmt.Errorf("tokenizer: split %v, want one of the constants", s.Split)
	}
	if s.PrefixSpace && s.Split > GPT2 {
		return nil, fmt.Errorf("tokenizer: a prefix space with the split %v, want %v or %v", s.Split, Uncut, GPT2)
	}
	for _, step := range []func() error{b.takeAdded, b.checkFrame, b.takeTokens, b.takeMerges} {
		if err := step(); err != nil {
			return nil, fmt.Errorf("tokenizer: %w", err)
		}
	}
	b.digest = words(b.JSON())
	return b, nil
}

func (b *BPE) takeAdded() error {
	for i, t := range b.spec.Added {
		if err := b.added.add(t); err != nil {
			return fmt.Errorf("added token %d: %w", i, err)
		}
		if t.Normalized && b.spec.NFC && !norm.NFC.IsNormalString(t.Content) {
			return fmt.Errorf("added token %d, %q, is looked for in text of the form NFC and has another", i, t.Content)
		}
		if _, twice := b.extra[t.ID]; twice || t.ID < 0 || int(t.ID) >= len(b.spec.Tokens) {
			return fmt.Errorf("added token %d, %q: id %d is taken or not below %d", i, t.Content, t.ID, len(b.spec.Tokens))
		}
		b.extra[t.ID] = t
		if own := b.spec.Tokens[t.ID]; own != nil && string(own) != t.Content {
			return fmt.Errorf("added token %d, %q: id %d is the token %q", i, t.Content, t.ID, own)
		}
	}
	return nil
}

func (b *BPE) takeTokens() error {
	if len(b.spec.Tokens) > math.MaxInt32 {
		return fmt.Errorf("%d tokens, want less than 2^31", len(b.spec.Tokens))
	}
	for id, t := range b.spec.Tokens {
		if t == nil {
			if _, ok := b.extra[int32(id)]; !ok {
				return fmt.Errorf("no token has the id %d, and %d ids are used", id, len(b.spec.Tokens))
			}
			continue
		}
		if old, ok := b.whole[string(t)]; ok || len(t) == 0 {
			return fmt.Errorf("token %d, %q, is empty or also token %d", id, t, old)
		}
		b.whole[string(t)] = int32(id)
	}
	if err := b.checkSpelling(); err != nil {
		return err
	}
	for x := range b.bytes {
		id, ok := b.whole[string(everyByte[x:x+1])]
		if !ok {
			return fmt.Errorf("byte 0x%02x has no token, so text with it could not be encoded", x)
		}
		b.bytes[x] = id
	}
	return nil
}

// checkSpelling wants added tokens that a tokenizer.json can tell from others.
func (b *BPE) checkSpelling() error {
	last := true // only ids of added tokens so far
	for id := len(b.spec.Tokens) - 1; id >= 0; id-- {
		if b.spec.Tokens[id] != nil {
			last = false
			continue
		}
		t := b.extra[int32(id)]
		bytes, ok := unspell(t.Content)
		if other, taken := b.whole[string(bytes)]; ok && taken {
			return fmt.Errorf("added token %q has the id %d and is spelled like token %d", t.Content, id, other)
		}
		if ok && !last && string(bytes) != t.Content {
			return fmt.Errorf("added token %q, id %d, is spelled like the bytes %q", t.Content, id, bytes)
		}
	}
	return nil
}

func (b *BPE) takeMerges() error {
	token := func(id int32) []byte {
		if id < 0 || int(id) >= len(b.spec.Tokens) {
			return nil
		}
		return b.spec.Tokens[id]
	}
	for rank, m := range b.spec.Merges {
		left, right := token(m.Left), token(m.Right)
		if left == nil || right == nil {
			return fmt.Errorf("merge %d: %d and %d are not both tokens", rank, m.Left, m.Right)
		}
		id, ok := b.whole[string(left)+string(right)]
		if !ok {
			return fmt.Errorf("merge %d: %q and %q make no token", rank, left, right)
		}
		if _, twice := b.merges[m]; twice {
			return fmt.Errorf("merge %d: %q and %q are merged before", rank, left, right)
		}
		b.merges[m] = result{int32(rank), id}
	}
	return nil
}

// Spec returns what the BPE consists of, not to be changed.
func (b *BPE) Spec() Spec { return b.spec }

// Vocab returns the number of ids.
func (b *BPE) Vocab() int { return len(b.spec.Tokens) }

// Digest is the SHA-256 of JSON.
func (b *BPE) Digest() [4]uint64 { return b.digest }

// Token returns the bytes of a token, or the text of an added one.
func (b *BPE) Token(id int32) (token []byte, special bool, err error) {
	if id < 0 || int(id) >= len(b.spec.Tokens) {
		return nil, false, &IDError{id, b.Vocab()}
	}
	if t := b.spec.Tokens[id]; t != nil {
		return t, b.extra[id].Special, nil
	}
	return []byte(b.extra[id].Content), b.extra[id].Special, nil
}

// Encode appends the ids of a text; added tokens are found in it.
func (b *BPE) Encode(dst []int32, text []byte) []int32 {
	return b.added.encode(dst, text, b.normal, b.ordinary)
}

// EncodeOrdinary appends the ids of a text and looks for no added tokens.
func (b *BPE) EncodeOrdinary(dst []int32, text []byte) []int32 {
	return b.ordinary(dst, b.normal(text))
}

// normal is a text in its normal form; bytes that are no UTF-8 stay.
func (b *BPE) normal(text []byte) []byte {
	if !b.spec.NFC {
		return text
	}
	return norm.NFC.Bytes(text)
}

// ordinary appends the ids of a normal text.
func (b *BPE) ordinary(dst []int32, text []byte) []int32 {
	if b.spec.PrefixSpace && len(text) > 0 && text[0] != ' ' {
		text = append([]byte{' '}, text...)
	}
	p := b.scratch.Get().(*piece)
	defer b.scratch.Put(p)
	return b.pieces(dst, text, p)
}

// pieces appends the ids of every piece of a text.
func (b *BPE) pieces(dst []int32, text []byte, p *piece) []int32 {
	for len(text) > 0 {
		n := b.spec.Split.next(text)
		dst = b.encode(dst, text[:n], p)
		text = text[n:]
	}
	return dst
}

// A piece is workspace: its tokens as a list that is linked both ways, by the
// place of their first byte, and the pairs that wait.
type piece struct {
	id, prev, next []int32 // id is −1 where a token was swallowed
	waiting        pairs
}

// A pair is a merge that could be done at a place.
type pair struct{ rank, at int32 }

func (a pair) before(b pair) bool { return a.rank < b.rank || a.rank == b.rank && a.at < b.at }

// pairs is a heap, the first pair on top. It is written out because that of
// the standard library would allocate for every pair.
type pairs []pair

func (p *pairs) push(x pair) {
	*p = append(*p, x)
	h := *p
	for i := len(h) - 1; i > 0; {
		up := (i - 1) / 2
		if !h[i].before(h[up]) {
			break
		}
		h[i], h[up] = h[up], h[i]
		i = up
	}
}

func (p *pairs) pop() pair {
	h := *p
	top, n := h[0], len(h)-1
	h[0] = h[n]
	h = h[:n]
	for i := 0; ; {
		low := 2*i + 1
		if low >= n {
			break
		}
		if low+1 < n && h[low+1].before(h[low]) {
			low++
		}
		if !h[low].before(h[i]) {
			break
		}
		h[i], h[low] = h[low], h[i]
		i = low
	}
	*p = h
	return top
}

// encode appends the tokens of one piece.
func (b *BPE) encode(dst []int32, text []byte, p *piece) []int32 {
	if len(text) == 1 {
		return append(dst, b.bytes[text[0]])
	}
	if b.spec.IgnoreMerges {
		if id, ok := b.whole[string(text)]; ok {
			return append(dst, id)
		}
	}
	p.id, p.prev, p.next, p.waiting = p.id[:0], p.prev[:0], p.next[:0], p.waiting[:0]
	for i, x := range text {
		p.id, p.prev, p.next = append(p.id, b.bytes[x]), append(p.prev, int32(i-1)), append(p.next, int32(i+1))
	}
	n := int32(len(text))
	for i := range n - 1 {
		if r, ok := b.merges[Merge{p.id[i], p.id[i+1]}]; ok {
			p.waiting.push(pair{r.rank, i})
		}
	}
	for len(p.waiting) > 0 {
		b.merge(p, p.waiting.pop(), n)
	}
	for i := int32(0); i < n; i = p.next[i] {
		dst = append(dst, p.id[i])
	}
	return dst
}

// merge does what waited, if it is still there.
func (b *BPE) merge(p *piece, w pair, n int32) {
	at := w.at
	right := p.next[at]
	if p.id[at] < 0 || right == n {
		return
	}
	r, ok := b.merges[Merge{p.id[at], p.id[right]}]
	if !ok || r.rank != w.rank {
		return
	}
	p.id[at], p.id[right] = r.id, -1
	p.next[at] = p.next[right]
	if after := p.next[at]; after < n {
		p.prev[after] = at
		if r, ok := b.merges[Merge{r.id, p.id[after]}]; ok {
			p.waiting.push(pair{r.rank, at})
		}
	}
	if before := p.prev[at]; before >= 0 {
		if r, ok := b.merges[Merge{p.id[before], r.id}]; ok {
			p.waiting.push(pair{r.rank, before})
		}
	}
}
