//go:build !unix

package postgres

import (
	"os"
	"os/exec"
)

// An owner is always nil here: the programs run as the user of this process.
type owner struct{}

func isRoot() bool { return false }

func ownerFor(string) (*owner, error)    { return nil, nil }
func (o *owner) take(string) error       { return nil }
func (o *owner) runAs(*exec.Cmd)         {}
func (o *owner) checkReach(string) error { return nil }
func temporaryParents() []string         { return []string{os.TempDir()} }
func makeReadable(string) error          { return nil }
