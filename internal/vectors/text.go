package vectors

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
)

// maxLine is the longest line that Read accepts, in bytes.
const maxLine = 1 << 20

// Read parses a vector file.
func Read(r io.Reader) (*File, error) {
	p := parser{file: new(File)}
	sc := bufio.NewScanner(r)
	sc.Buffer(make([]byte, 0, 64<<10), maxLine)
	for sc.Scan() {
		p.line++
		if err := p.parseLine(sc.Text()); err != nil {
			return nil, fmt.Errorf("vectors: line %d: %w", p.line, err)
		}
	}
	if err := sc.Err(); err != nil {
		return nil, fmt.Errorf("vectors: line %d: %w", p.line+1, err)
	}
	if err := p.finish(); err != nil {
		return nil, fmt.Errorf("vectors: line %d: %w", p.line, err)
	}
	p.file.Trailer = p.comment
	return p.file, nil
}

type parser struct {
	file    *File
	line    int
	comment []string // comment lines seen since the last header
	cur     *Tensor  // tensor being filled, nil before the first
	want    int      // elements that cur must have
	opened  int      // line of cur's header
}

func (p *parser) parseLine(s string) error {
	if strings.Contains(s, "\r") { // one before the line break is gone already
		return fmt.Errorf("stray carriage return")
	}
	if strings.HasPrefix(s, "#") {
		p.comment = append(p.comment, strings.TrimPrefix(strings.TrimPrefix(s, "#"), " "))
		return nil
	}
	fields := strings.Fields(s)
	switch {
	case len(fields) == 0:
		return nil
	case fields[0] == "tensor":
		return p.header(s)
	case p.cur == nil:
		return fmt.Errorf("want a tensor header, found %q", fields[0])
	}
	for _, word := range fields {
		if p.cur.len() == p.want {
			return fmt.Errorf("tensor %s of line %d has more than its %d elements", p.cur.Name, p.opened, p.want)
		}
		if err := p.cur.parseElement(word); err != nil {
			return err
		}
	}
	return nil
}

// header opens the tensor of a line "tensor NAME KIND [EXTENT…]".
func (p *parser) header(s string) error {
	if err := p.finish(); err != nil {
		return err
	}
	head, rest, open := strings.Cut(s, "[")
	fields := strings.Fields(head)
	if !open || len(fields) != 3 {
		return fmt.Errorf("bad header %q, want: tensor NAME KIND [EXTENT…]", s)
	}
	list, after, closed := strings.Cut(rest, "]")
	if !closed || strings.TrimSpace(after) != "" {
		return fmt.Errorf("bad header %q, want: tensor NAME KIND [EXTENT…]", s)
	}
	kind, ok := parseKind(fields[2])
	if !ok {
		return fmt.Errorf("unknown kind %q, want f64, f32 or int", fields[2])
	}
	t := &Tensor{Name: fields[1], Kind: kind, Comment: p.comment}
	if err := checkName(t.Name); err != nil {
		return err
	}
	if _, taken := p.file.Lookup(t.Name); taken {
		return fmt.Errorf("tensor %s: name already used", t.Name)
	}
	for word := range strings.FieldsSeq(list) {
		n, err := strconv.ParseUint(word, 10, 31)
		if err != nil {
			return fmt.Errorf("tensor %s: bad extent %q", t.Name, word)
		}
		t.Shape = append(t.Shape, int(n))
	}
	n, err := volume(t.Shape)
	if err != nil {
		return fmt.Errorf("tensor %s: %w", t.Name, err)
	}
	p.cur, p.want, p.opened, p.comment = t, n, p.line, nil
	p.file.append(t)
	return nil
}

// finish checks that the tensor being filled is complete.
func (p *parser) finish() error {
	if p.cur != nil && p.cur.len() != p.want {
		return fmt.Errorf("tensor %s of line %d has %d elements, want %d", p.cur.Name, p.opened, p.cur.len(), p.want)
	}
	return nil
}

func (t *Tensor) parseElement(word string) error {
	if t.Kind == Int {
		n, err := strconv.ParseInt(word, 10, 64)
		if err != nil {
			return fmt.Errorf("bad int %q", word)
		}
		t.Ints = append(t.Ints, n)
		return nil
	}
	x, err := parseFloat(word)
	if err != nil {
		return err
	}
	if t.Kind == F32 && !isFloat32(x) {
		return fmt.Errorf("%s is not a float32", word)
	}
	t.Floats = append(t.Floats, x)
	return nil
}

func parseFloat(word string) (float64, error) {
	switch word {
	case "inf":
		return math.Inf(1), nil
	case "-inf":
		return math.Inf(-1), nil
	case "nan":
		return math.NaN(), nil
	}
	if !strings.HasPrefix(strings.TrimPrefix(word, "-"), "0x") || strings.Contains(word, "_") {
		return 0, fmt.Errorf("bad float %q, want a hexadecimal float", word)
	}
	x, err := strconv.ParseFloat(word, 64)
	if err != nil {
		return 0, fmt.Errorf("bad float %q, want a hexadecimal float that fits in float64", word)
	}
	return x, nil
}

// perLine is the number of elements that Write puts on a line.
const perLine = 6

// Write prints f in the form that Read accepts.
func Write(w io.Writer, f *File) error {
	b := bufio.NewWriter(w)
	for _, t := range f.tensors {
		if err := t.check(); err != nil { // t may have changed since Add
			return fmt.Errorf("vectors: %w", err)
		}
		writeComment(b, t.Comment)
		fmt.Fprintf(b, "tensor %s %v %v\n", t.Name, t.Kind, t.Shape)
		var word []byte
		for i := range t.len() {
			if t.Kind == Int {
				word = strconv.AppendInt(word[:0], t.Ints[i], 10)
			} else {
				word = appendFloat(word[:0], t.Floats[i])
			}
			b.Write(word)
			if (i+1)%perLine == 0 || i+1 == t.len() {
				b.WriteByte('\n')
			} else {
				b.WriteByte(' ')
			}
		}
	}
	writeComment(b, f.Trailer)
	return b.Flush()
}

func writeComment(b *bufio.Writer, lines []string) {
	for _, c := range lines {
		if c == "" {
			b.WriteString("#\n")
			continue
		}
		b.WriteString("# " + c + "\n")
	}
}

// appendFloat prints a float in hexadecimal, with an exponent as short as it can be.
func appendFloat(dst []byte, x float64) []byte {
	switch {
	case math.IsNaN(x):
		return append(dst, "nan"...)
	case math.IsInf(x, 1):
		return append(dst, "inf"...)
	case math.IsInf(x, -1):
		return append(dst, "-inf"...)
	}
	dst = strconv.AppendFloat(dst, x, 'x', -1, 64)
	if n := len(dst) - 2; dst[n] == '0' && (dst[n-1] == '+' || dst[n-1] == '-') {
		dst = append(dst[:n], dst[n+1])
	}
	return dst
}
