package tokenizer

import (
	"container/heap"
	"fmt"
	"slices"
)

// Options say what Build makes.
type Options struct {
	Vocab    int      // ids, bytes and special tokens included; fewer if the text has no more pairs
	Split    Split    // not Uncut
	MinCount int      // a pair that is rarer is not merged; 0 means 1
	Specials []string // get the last ids
}

// Build makes a BPE of texts. It starts from the bytes, in the order of the
// alphabet, and merges the pair of tokens that is most frequent in all pieces,
// again and again. Of pairs that are equally frequent it takes the one with the
// smaller left id, then the smaller right id, so the result depends on the
// texts alone, and not on their order. Hugging Face's BpeTrainer with the
// alphabet of bytes finds the same merges.
//
// Pieces that are equal are one word with a count. For every pair there is its
// count and in which words it may be; a merge visits only those words, takes
// the pairs of each away and adds those of what it became. The most frequent
// pair comes from a heap in which an entry may be out of date: one whose count
// has fallen goes back with the count of now.
func Build(opt Options, texts ...[]byte) (*BPE, error) {
	least := byteTokens + len(opt.Specials)
	if opt.Vocab < least {
		return nil, fmt.Errorf("tokenizer: a vocabulary of %d, want %d or more, for the bytes and %d special tokens", opt.Vocab, least, len(opt.Specials))
	}
	if opt.Split <= Uncut || opt.Split > O200K {
		return nil, fmt.Errorf("tokenizer: split %v, want one that cuts text into pieces", opt.Split)
	}
	b := newBuilder(opt.Split, texts)
	for len(b.spec.Tokens) < opt.Vocab-len(opt.Specials) {
		p, ok := b.best(max(opt.MinCount, 1))
		if !ok {
			break
		}
		b.merge(p)
	}
	for _, s := range opt.Specials {
		b.spec.Added = append(b.spec.Added, Added{ID: int32(len(b.spec.Tokens)), Content: s, Special: true})
		b.spec.Tokens = append(b.spec.Tokens, nil)
	}
	return New(b.spec)
}

// A word is a piece of text and how often it occurs.
type word struct {
	ids   []int32
	count int
	seen  int // the merge that last visited it
}

// A tally is the count of a pair and the words that it may be in.
type tally struct {
	count int
	words []int32
}

type builder struct {
	spec    Spec
	ids     map[string]int32 // of the tokens
	words   []word
	tallies map[Merge]*tally
	queue   queue
	raised  []Merge // pairs that the merge made more frequent
}

func newBuilder(split Split, texts [][]byte) *builder {
	b := &builder{spec: Spec{Split: split}, ids: map[string]int32{}, tallies: map[Merge]*tally{}}
	var first [byteTokens]int32
	order := everyByte
	slices.SortFunc(order[:], func(x, y byte) int { return int(letters[x] - letters[y]) })
	for id, x := range order {
		b.token([]byte{x})
		first[x] = int32(id)
	}
	index := map[string]int{}
	for _, text := range texts {
		for len(text) > 0 {
			n := split.next(text)
			i, ok := index[string(text[:n])]
			if !ok {
				i = len(b.words)
				index[string(text[:n])] = i
				w := word{ids: make([]int32, n), seen: -1}
				for j, x := range text[:n] {
					w.ids[j] = first[x]
				}
				b.words = append(b.words, w)
			}
			b.words[i].count++
			text = text[n:]
		}
	}
	for i := range b.words {
		b.add(int32(i), -1)
	}
	b.raise()
	return b
}

// token returns the id of bytes, a new one if they have none.
func (b *builder) token(t []byte) int32 {
	id, ok := b.ids[string(t)]
	if !ok {
		id = int32(len(b.spec.Tokens))
		b.ids[string(t)] = id
		b.spec.Tokens = append(b.spec.Tokens, t)
	}
	return id
}

// add counts the pairs of a word. Only pairs with the token fresh can be new
// to the word; −1 means any.
func (b *builder) add(word, fresh int32) {
	w := &b.words[word]
	for i := range len(w.ids) - 1 {
		p := Merge{w.ids[i], w.ids[i+1]}
		t := b.tallies[p]
		if t == nil {
			t = &tally{}
			b.tallies[p] = t
		}
		t.count += w.count
		if fresh < 0 || p.Left == fresh || p.Right == fresh {
			if n := len(t.words); n == 0 || t.words[n-1] != word {
				t.words = append(t.words, word)
			}
			b.raised = append(b.raised, p)
		}
	}
}

// raise puts the pairs that became more frequent into the queue.
func (b *builder) raise() {
	slices.SortFunc(b.raised, compare)
	for _, p := range slices.Compact(b.raised) {
		heap.Push(&b.queue, candidate{b.tallies[p].count, p})
	}
	b.raised = b.raised[:0]
}

// best takes out the most frequent pair, if it is frequent enough.
func (b *builder) best(least int) (Merge, bool) {
	for b.queue.Len() > 0 {
		top := heap.Pop(&b.queue).(candidate)
		now := b.tallies[top.pair].count
		switch {
		case now == top.count && now >= least:
			return top.pair, true
		case now < top.count && now >= least:
			heap.Push(&b.queue, candidate{now, top.pair})
		}
	}
	return Merge{}, false
}

// merge makes one token of a pair, in all words.
func (b *builder) merge(p Merge) {
	step := len(b.spec.Merges)
	b.spec.Merges = append(b.spec.Merges, p)
	id := b.token(slices.Concat(b.spec.Tokens[p.Left], b.spec.Tokens[p.Right]))
	for _, i := range b.tallies[p].words {
		w := &b.words[i]
		if w.seen == step {
			continue
		}
		w.seen = step
		for j := range len(w.ids) - 1 {
			b.tallies[Merge{w.ids[j], w.ids[j+1]}].count -= w.count
		}
		w.ids = join(w.ids, p, id)
		b.add(i, id)
	}
	b.raise()
}

// join replaces the pair from left to right, in place.
func join(ids []int32, p Merge, id int32) []int32 {
	n := 0
	for i := 0; i < len(ids); i++ {
		if i+1 < len(ids) && ids[i] == p.Left && ids[i+1] == p.Right {
			ids[n] = id
			i++
		} else {
			ids[n] = ids[i]
		}
		n++
	}
	return ids[:n]
}

func compare(x, y Merge) int {
	if x.Left != y.Left {
		return int(x.Left - y.Left)
	}
	return int(x.Right - y.Right)
}

// A candidate is a pair and the count that it had when it was put in.
type candidate struct {
	count int
	pair  Merge
}

type queue []candidate

func (q queue) Len() int { return len(q) }
func (q queue) Less(i, j int) bool {
	if q[i].count != q[j].count {
		return q[i].count > q[j].count
	}
	return compare(q[i].pair, q[j].pair) < 0
}
func (q queue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q *queue) Push(x any)   { *q = append(*q, x.(candidate)) }
func (q *queue) Pop() any {
	last := (*q)[len(*q)-1]
	*q = (*q)[:len(*q)-1]
	return last
}
