package inspect

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
)

// A Level is the part of a build's checkpoint that belongs to one level.
type Level struct {
	Level   int     `json:"level"`
	Period  string  `json:"period"`  // in the unit of the run
	Numbers int     `json:"numbers"` // in its parameters
	Norm    float64 `json:"-"`       // of them
	Kept    int     `json:"kept"`    // numbers of its updates and buffers
	Waiting float64 `json:"-"`       // norm of the gradient that is buffered until it is updated
}

// Keys of the metadata, and prefixes of names, of a build.
const (
	levelsKey  = "build.levels" // NAME=LEVEL of each parameter that is not of the first level
	periodsKey = "run.periods"
	paramName  = "param."
	updateName = "update." // update.NAME.SLOT.PARAMETER
	bufferName = "buffer." // buffer.SLOT.PARAMETER
	waitsName  = "buffer.waiting."
)

// level gives each tensor of a build its level, and adds them up.
func (f *File) level() {
	words, ok := f.Meta[levelsKey]
	if !ok {
		return
	}
	of := map[string]int{}
	for w := range strings.FieldsSeq(words) {
		name, n, _ := strings.Cut(w, "=")
		if l, err := strconv.Atoi(n); err == nil && l >= 0 && l < maxLevels {
			of[name] = l
		}
	}
	for i, p := range strings.Fields(f.Meta[periodsKey]) {
		f.Levels = append(f.Levels, Level{Level: i, Period: p})
	}
	for i := range f.Tensors {
		t := &f.Tensors[i]
		name, ok := parameterOf(t.Name)
		if !ok {
			continue
		}
		l := of[name]
		t.Level = &l
		if l >= len(f.Levels) {
			continue
		}
		x := &f.Levels[l]
		switch {
		case strings.HasPrefix(t.Name, paramName):
			x.Numbers, x.Norm = x.Numbers+t.Len(), math.Hypot(x.Norm, t.Norm)
			continue
		case strings.HasPrefix(t.Name, waitsName):
			x.Waiting = math.Hypot(x.Waiting, t.Norm)
		}
		x.Kept += t.Len()
	}
}

// maxLevels bounds the levels of a damaged file.
const maxLevels = 64

// parameterOf is the parameter that a tensor of a build belongs to.
func parameterOf(name string) (string, bool) {
	for prefix, parts := range map[string]int{paramName: 1, updateName: 3, bufferName: 2} {
		if words := strings.SplitN(name, ".", parts+1); strings.HasPrefix(name, prefix) && len(words) == parts+1 {
			return words[parts], true
		}
	}
	return "", false
}

// levels prints a line for each level, if there is more than one.
func (f *File) levels(w io.Writer) {
	if len(f.Levels) < 2 {
		return
	}
	for _, l := range f.Levels {
		fmt.Fprintf(w, "  level %d: period %s, %d numbers in parameters of the norm %.5g, %d kept for them; the buffered gradient has the norm %.5g\n",
			l.Level, l.Period, l.Numbers, l.Norm, l.Kept, l.Waiting)
	}
}
