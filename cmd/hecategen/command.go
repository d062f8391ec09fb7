package main

import (
	"flag"
	"fmt"
	"io"
	"strings"

	"github.com/nl-hecate/hecate/gen/ident"
)

// Exit statuses.
const (
	fine   = 0 // all is well
	bad    = 1 // the input is not: diagnostics, drift, a failed proof
	usage  = 2 // the command line cannot be understood
	broken = 3 // the compiler failed
)

// A command is the first word behind hecategen.
type command struct {
	name  string
	args  string // what stands behind the name: "[flags] PATH…"
	short string // one line, for the list
	long  string // paragraphs, for `help NAME`
	least int    // how many arguments it needs at least
	most  int    // and at most; −1 for any number
	flags *flag.FlagSet
	run   func(args []string, out, err io.Writer) int
}

func newCommand(name, args, short, long string, least, most int) *command {
	c := &command{name: name, args: args, short: short, long: long, least: least, most: most}
	c.flags = flag.NewFlagSet(name, flag.ContinueOnError)
	c.flags.SetOutput(io.Discard)
	return c
}

// run is main without the process.
func run(args []string, out, err io.Writer) int {
	if len(args) == 0 {
		overview(err)
		return usage
	}
	name, rest := args[0], args[1:]
	switch name {
	case "help", "-h", "-help", "--help":
		return help(rest, out, err)
	case "-version", "--version":
		name = "version"
	}
	c := find(name)
	if c == nil {
		return unknown(name, err)
	}
	return c.start(rest, out, err)
}

func find(name string) *command {
	for _, f := range commands {
		if c := f(); c.name == name {
			return c
		}
	}
	return nil
}

func unknown(name string, err io.Writer) int {
	var names []string
	for _, f := range commands {
		names = append(names, f().name)
	}
	fmt.Fprintf(err, "hecategen: there is no command %q\n", name)
	if n := ident.Nearest(name, names); n != "" {
		fmt.Fprintf(err, "  help: did you mean `hecategen %s`?\n", n)
	} else {
		fmt.Fprintln(err, "  help: `hecategen help` lists the commands")
	}
	return usage
}

// start reads the flags, which may stand before, between and behind the
// arguments, counts the arguments and runs the command.
func (c *command) start(args []string, out, err io.Writer) int {
	args, words := cut(args)
	var first []string
	for len(args) > 0 {
		if e := c.flags.Parse(args); e == flag.ErrHelp {
			c.help(out)
			return fine
		} else if e != nil {
			return c.misuse(err, "%v", e)
		}
		if args = c.flags.Args(); len(args) > 0 {
			first, args = append(first, args[0]), args[1:]
		}
	}
	words = append(first, words...)
	switch {
	case len(words) < c.least:
		return c.misuse(err, "%s needs %s", c.name, argument(c.args))
	case c.most > 0 && len(words) > c.most:
		return c.misuse(err, "%s takes at most %s, and %q is one more", c.name, plural(c.most, "argument"), words[c.most])
	case c.most == 0 && len(words) > 0:
		return c.misuse(err, "%s takes no argument %q", c.name, words[0])
	}
	return guarded(err, func() int { return c.run(words, out, err) })
}

// cut divides a command line at `--`: what stands behind is no flag.
func cut(args []string) (before, after []string) {
	for i, a := range args {
		if a == "--" {
			return args[:i], args[i+1:]
		}
	}
	return args, nil
}

// argument is the last word of a command's arguments, without its brackets.
func argument(args string) string {
	words := strings.Fields(args)
	return strings.TrimSuffix(strings.Trim(words[len(words)-1], "[]"), "…")
}

func (c *command) misuse(err io.Writer, format string, args ...any) int {
	fmt.Fprintf(err, "hecategen: %s\n", fmt.Sprintf(format, args...))
	fmt.Fprintf(err, "usage: hecategen %s %s\n", c.name, c.args)
	fmt.Fprintf(err, "  help: `hecategen help %s` says more\n", c.name)
	return usage
}
