package main

import (
	"flag"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// overview lists the commands.
func overview(w io.Writer) {
	fmt.Fprint(w, "hecategen compiles specification pages, equations in markdown, to kernels.\n\n",
		"usage: hecategen COMMAND [flags] [arguments]\n\n")
	for _, c := range commands {
		fmt.Fprintf(w, "  %-9s %s\n", c.name, c.short)
	}
	fmt.Fprint(w, "  help      explain a command\n\n",
		"exit status: 0 success, 1 errors in the pages, drift or a failed proof,\n             2 an error in the command line, 3 a failure of the compiler\n")
}

// help is `hecategen help [COMMAND]`.
func help(args []string, out, err io.Writer) int {
	switch {
	case len(args) == 0:
		overview(out)
		return exitOK
	case len(args) > 1:
		fmt.Fprintln(err, "usage: hecategen help [COMMAND]")
		return exitUsage
	}
	c := find(args[0])
	if c == nil {
		return unknown(args[0], err)
	}
	c.help(out)
	return exitOK
}

func (c *command) help(w io.Writer) {
	fmt.Fprintf(w, "usage: hecategen %s\n\n%s\n", strings.TrimSpace(c.name+" "+c.args), strings.TrimSpace(c.long))
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	first := true
	c.flags.VisitAll(func(f *flag.Flag) {
		if first {
			fmt.Fprint(w, "\nflags:\n")
			first = false
		}
		kind, text := flag.UnquoteUsage(f)
		if d := f.DefValue; d != "" && d != "false" {
			text += fmt.Sprintf(" (by default %s)", d)
		}
		fmt.Fprintf(table, "  -%s\t%s\n", strings.TrimSpace(f.Name+" "+kind), text)
	})
	table.Flush()
}
