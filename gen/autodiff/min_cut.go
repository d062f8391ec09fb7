package autodiff

// A cut is a flow network from a source to a sink; its minimum cut is that of least capacity.
type cut struct{ to [][]edge }

type edge struct {
	to, back int // back is the number of the edge in the opposite direction, at to
	capacity int64
}

const (
	source   = 0
	sink     = 1
	infinite = int64(1) << 60
)

func newCut() *cut { return &cut{make([][]edge, 2)} }

// add adds two nodes, of which it returns the first.
func (c *cut) add() int {
	c.to = append(c.to, nil, nil)
	return len(c.to) - 2
}

func (c *cut) edge(from, to int, capacity int64) {
	c.to[from] = append(c.to[from], edge{to, len(c.to[to]), capacity})
	c.to[to] = append(c.to[to], edge{from, len(c.to[from]) - 1, 0})
}

// fill finds the maximum flow by shortest augmenting paths (Edmonds and Karp 1972).
func (c *cut) fill() {
	for {
		from := make([]*edge, len(c.to))
		queue := []int{source}
		for len(queue) > 0 && from[sink] == nil {
			n := queue[0]
			queue = queue[1:]
			for i := range c.to[n] {
				if e := &c.to[n][i]; e.capacity > 0 && from[e.to] == nil && e.to != source {
					from[e.to] = e
					queue = append(queue, e.to)
				}
			}
		}
		if from[sink] == nil {
			return
		}
		least := infinite
		before := func(e *edge) int { return c.to[e.to][e.back].to }
		for e := from[sink]; e != nil; e = from[before(e)] {
			least = min(least, e.capacity)
		}
		for e := from[sink]; e != nil; e = from[before(e)] {
			e.capacity -= least
			c.to[e.to][e.back].capacity += least
		}
	}
}

// reachesSink are the nodes from which there still is a path to the sink: the backward's side
// of the minimum cut that is nearest to it, so that of equal cuts the one with the least to
// compute again is taken.
func (c *cut) reachesSink() []bool {
	out := make([]bool, len(c.to))
	out[sink] = true
	queue := []int{sink}
	for len(queue) > 0 {
		n := queue[0]
		queue = queue[1:]
		for _, e := range c.to[n] {
			if !out[e.to] && c.to[e.to][e.back].capacity > 0 {
				out[e.to] = true
				queue = append(queue, e.to)
			}
		}
	}
	return out
}
