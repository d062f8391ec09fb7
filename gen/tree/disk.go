package tree

import (
	"errors"
	"fmt"
	"os"
)

// A verb is what an op does.
type verb int

const (
	_       verb = iota
	mkdir        // make the folder path
	write        // make the file path hold data and put it on the medium
	link         // make to another name of the file path
	rename       // move the file path to to, replacing what is there
	remove       // remove the file or empty folder path
	syncDir      // put the names in the folder path on the medium
)

func (v verb) String() string {
	return [...]string{"invalid", "mkdir", "write", "link", "rename", "remove", "sync"}[v]
}

// An op is one change of the file system. All changes pass through one function
// so that a test can stop the world between any two.
type op struct {
	verb verb
	path string
	to   string
	data []byte
}

func (o op) String() string {
	if o.to != "" {
		return fmt.Sprintf("%v %s %s", o.verb, o.path, o.to)
	}
	return fmt.Sprintf("%v %s", o.verb, o.path)
}

// A disk makes one change.
type disk func(op) error

// plainDisk changes the real file system below root.
func plainDisk(root *os.Root) disk {
	return func(o op) error {
		switch o.verb {
		case mkdir:
			return root.Mkdir(o.path, 0o777)
		case write:
			return writeFile(root, o.path, o.data)
		case link:
			return root.Link(o.path, o.to)
		case rename:
			return root.Rename(o.path, o.to)
		case remove:
			return root.Remove(o.path)
		case syncDir:
			return syncFolder(root, o.path)
		}
		panic(fmt.Sprintf("tree: BUG: verb %v", o.verb))
	}
}

func writeFile(root *os.Root, name string, data []byte) error {
	f, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

func syncFolder(root *os.Root, name string) error {
	f, err := root.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	// Windows and some network file systems cannot sync a folder and say so in
	// many ways; what can go wrong with the medium shows in the files as well.
	if err := f.Sync(); err != nil && !cannotSync(err) {
		return err
	}
	return nil
}
