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
	exitOK       = 0 // success
	exitFailed   = 1 // errors in the pages, drift, a failed proof
	exitUsage    = 2 // an error in the command line
	exitInternal = 3 // a failure of the compiler
)

// A runFunc runs a command with its arguments. It returns the exit status, or an error
// of the environment, which start prints.
type runFunc func(args []string, out, err io.Writer) (status int, e error)

// run is main without the process.
func run(args []string, out, err io.Writer) int {
	if len(args) == 0 {
		overview(err)
		return exitUsage
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

// find returns the command of a name with its flags, or nil.
func find(name string) *command {
	for _, c := range commands {
		if c.name == name {
			c.flags = flag.NewFlagSet(name, flag.ContinueOnError)
			c.flags.SetOutput(io.Discard)
			c.run = c.define(&c)
			return &c
		}
	}
	return nil
}

func unknown(name string, err io.Writer) int {
	var names []string
	for _, c := range commands {
		names = append(names, c.name)
	}
	fmt.Fprintf(err, "hecategen: there is no command %q\n", name)
	if n := ident.Nearest(name, names); n != "" {
		fmt.Fprintf(err, "  help: did you mean `hecategen %s`?\n", n)
	} else {
		fmt.Fprintln(err, "  help: `hecategen help` lists the commands")
	}
	return exitUsage
}

// start reads the flags, which may be before, between and after the
// arguments, counts the arguments and runs the command.
func (c *command) start(args []string, out, err io.Writer) int {
	args, words := cut(args)
	var first []string
	for len(args) > 0 {
		if e := c.flags.Parse(args); e == flag.ErrHelp {
			c.help(out)
			return exitOK
		} else if e != nil {
			return c.misuse(err, "%v", e)
		}
		if args = c.flags.Args(); len(args) > 0 {
			first, args = append(first, args[0]), args[1:]
		}
	}
	words = append(first, words...)
	switch {
	case len(words) < c.min:
		return c.misuse(err, "%s needs %s", c.name, argument(c.args))
	case c.max > 0 && len(words) > c.max:
		return c.misuse(err, "%s takes at most %s, and %q is one more", c.name, plural(c.max, "argument"), words[c.max])
	case c.max == 0 && len(words) > 0:
		return c.misuse(err, "%s takes no argument %q", c.name, words[0])
	}
	return guarded(err, func() int {
		status, e := c.run(words, out, err)
		if e != nil {
			fmt.Fprintf(err, "hecategen: %s: %v\n", c.name, e)
			return exitFailed
		}
		return status
	})
}

// cut divides a command line at `--`: what follows is no flag.
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
	fmt.Fprintf(err, "usage: hecategen %s\n", strings.TrimSpace(c.name+" "+c.args))
	fmt.Fprintf(err, "  help: `hecategen help %s` explains the command\n", c.name)
	return exitUsage
}
