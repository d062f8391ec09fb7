package main

import (
	"bytes"
	"os"
	"testing"
)

// TestTablesAreCurrent prints the tables again and compares them with the
// committed file.
func TestTablesAreCurrent(t *testing.T) {
	want, err := os.ReadFile("../../runtime/num/internal/table/table.go")
	if err != nil {
		t.Fatal(err)
	}
	var got bytes.Buffer
	if err := Print(&got); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got.Bytes(), want) {
		t.Error("table.go differs from what tablegen prints; run it again")
	}
}
