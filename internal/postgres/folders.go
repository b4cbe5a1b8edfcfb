package postgres

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// rootFolder stands in for root's own caches, which no other user can reach.
const rootFolder = "/var/lib/buzon"

// KeptFolder returns the folder in which a cluster of that name is best kept
// between runs: under the user's cache folder, or, for root, where the
// server's user can reach it. It is not created.
func KeptFolder(name string) (string, error) {
	base, err := basePath()
	if err != nil {
		return "", fmt.Errorf("postgres: %w", err)
	}
	return filepath.Join(base, name), nil
}

// basePath returns the folder of all that this package keeps.
func basePath() (string, error) {
	if isRoot() {
		return rootFolder, nil
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("no folder to keep anything in: %w", err)
	}
	return filepath.Join(cache, "buzon"), nil
}

// temporaryFolder creates a folder that the server's user can reach: not every
// TMPDIR of root is open to others.
func temporaryFolder(o *owner) (string, error) {
	var faults []error
	for _, parent := range temporaryParents() {
		folder, err := temporaryFolderIn(parent, o)
		if err == nil {
			return folder, nil
		}
		faults = append(faults, err)
	}
	return "", fmt.Errorf("postgres: no temporary folder: %w", errors.Join(faults...))
}

func temporaryFolderIn(parent string, o *owner) (string, error) {
	folder, err := os.MkdirTemp(parent, "buzon-postgres-")
	if err != nil {
		return "", err
	}
	if err := errors.Join(o.take(folder), o.checkReach(folder)); err != nil {
		return "", errors.Join(err, os.Remove(folder))
	}
	return folder, nil
}
