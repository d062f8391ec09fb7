package main

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/nl-hecate/hecate/gen/diag"
)

func defineExplain(c *command) runFunc {
	return func(args []string, out, err io.Writer) (int, error) {
		if len(args) == 0 {
			for _, code := range diag.Codes() {
				e, _ := diag.Explain(code)
				fmt.Fprintf(out, "%s  %s\n", code, sentence(e.Summary))
			}
			return exitOK, nil
		}
		n, e := strconv.Atoi(strings.TrimPrefix(strings.ToUpper(args[0]), "HEC"))
		x, ok := diag.Explain(diag.Code(n))
		if e != nil || !ok {
			fmt.Fprintf(err, "hecategen: there is no diagnostic %s\n  help: `hecategen explain` lists them\n", args[0])
			return exitFailed, nil
		}
		explanation(out, diag.Code(n), x)
		return exitOK, nil
	}
}

func explanation(w io.Writer, code diag.Code, x diag.Explanation) {
	fmt.Fprintf(w, "%s\n\n%s\n", code, x.Summary)
	for _, e := range []struct{ title, text string }{{"wrong", x.Wrong}, {"right", x.Right}} {
		if e.text == "" {
			continue
		}
		fmt.Fprintf(w, "\n%s:\n", e.title)
		for line := range strings.Lines(strings.TrimSuffix(e.text, "\n")) {
			fmt.Fprintf(w, "    %s\n", shorten(strings.TrimSuffix(line, "\n")))
		}
	}
}

// shorten cuts the lines of examples that are about length.
func shorten(line string) string {
	const most = 100
	if r := []rune(line); len(r) > most {
		return string(r[:most]) + " …"
	}
	return line
}

// sentence is the first sentence of a text.
func sentence(s string) string {
	if i := strings.Index(s, ". "); i >= 0 {
		return s[:i+1]
	}
	return s
}
