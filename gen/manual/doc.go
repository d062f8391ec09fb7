// Package manual has only tests. They hold the manual of the language, specs/LANGUAGE.md, to the
// compiler: its examples compile and prove, its tutorial gives the messages that it shows, its tables
// are those of the code, and the example rules are as short as the manual says.
package manual
