package witness

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// ReadList reads a list of witnesses; # starts a comment.
func ReadList(r io.Reader) ([]*Witness, error) {
	var out []*Witness
	sc := bufio.NewScanner(r)
	for n := 1; sc.Scan(); n++ {
		text, _, _ := strings.Cut(sc.Text(), "#")
		if strings.TrimSpace(text) == "" {
			continue
		}
		texts, err := expandEach(text)
		if err != nil {
			return nil, fmt.Errorf("witness list, line %d: %w", n, err)
		}
		for _, text := range texts {
			w, err := parseWitness(text)
			if err != nil {
				return nil, fmt.Errorf("witness list, line %d: %w", n, err)
			}
			w.Line = n
			out = append(out, w)
		}
	}
	return out, sc.Err()
}

// expandEach expands a line with EACH:=A-B to one line for every n.
func expandEach(text string) ([]string, error) {
	before, rest, ok := strings.Cut(text, "EACH:=")
	if !ok {
		return []string{text}, nil
	}
	var from, to int
	if _, err := fmt.Sscanf(rest, "%d-%d", &from, &to); err != nil || from > to {
		return nil, fmt.Errorf("want EACH:=A-B, as in EACH:=1-7")
	}
	_, rest, _ = strings.Cut(rest, " ")
	var out []string
	for n := from; n <= to; n++ {
		r := strings.NewReplacer("{n}", strconv.Itoa(n), "{n-1}", strconv.Itoa(n-1))
		out = append(out, r.Replace(before+rest))
	}
	return out, nil
}

// parseWitness parses one line.
func parseWitness(text string) (*Witness, error) {
	head, rest, ok := strings.Cut(text, " : ")
	words := strings.Fields(head)
	in, results, ok2 := strings.Cut(rest, ">")
	if !ok || !ok2 || len(words) != 4 {
		return nil, fmt.Errorf("want UNIT PROGRAM FILE PREFIX : … > …")
	}
	w := &Witness{Unit: words[0], Program: words[1], File: words[2], Prefix: strings.TrimSuffix(words[3], "-"),
		In: map[string]string{}, Sizes: map[string]string{}, Options: map[string]string{}}
	for _, f := range strings.Fields(in) {
		if k, v, ok := strings.Cut(f, "::="); ok {
			w.Options[k] = v
		} else if k, v, ok := strings.Cut(f, ":="); ok && k == "STRIP" {
			w.Strip = v
		} else if ok && k == "TOL" {
			var err error
			if w.Tol, err = strconv.ParseFloat(v, 64); err != nil {
				return nil, fmt.Errorf("TOL: %w", err)
			}
		} else if ok {
			w.Sizes[k] = v
		} else if k, v, ok := strings.Cut(f, "="); ok {
			w.In[k] = v
		} else {
			return nil, fmt.Errorf("%q is no assignment", f)
		}
	}
	for _, f := range strings.Fields(results) {
		k, v, ok := strings.Cut(f, "=")
		if !ok {
			return nil, fmt.Errorf("%q is no assignment", f)
		}
		t, weight, _ := strings.Cut(v, "*")
		w.Out = append(w.Out, Result{k, t, weight})
	}
	return w, nil
}
