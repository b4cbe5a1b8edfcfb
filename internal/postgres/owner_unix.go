//go:build unix

package postgres

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
)

// An owner is the user as which the programs of PostgreSQL run, and to whom
// their files belong. Nil means the user of this process.
type owner struct {
	name     string
	uid, gid uint32
}

func isRoot() bool { return os.Geteuid() == 0 }

// ownerFor returns whose a cluster is or, where there is none yet, shall be.
func ownerFor(cluster string) (*owner, error) {
	if !isRoot() {
		return nil, nil
	}
	if info, err := os.Stat(filepath.Join(cluster, dataName)); cluster != "" && err == nil {
		if stat, ok := info.Sys().(*syscall.Stat_t); ok && stat.Uid != 0 {
			return &owner{name: strconv.Itoa(int(stat.Uid)), uid: stat.Uid, gid: stat.Gid}, nil
		}
	}
	for _, name := range []string{"postgres", "nobody"} {
		if o, err := lookUp(name); err == nil {
			return o, nil
		}
	}
	return nil, errors.New("postgres: PostgreSQL refuses to run as root, and there is no user named postgres or nobody to run it as: create one")
}

func lookUp(name string) (*owner, error) {
	u, err := user.Lookup(name)
	if err != nil {
		return nil, err
	}
	uid, err := strconv.ParseUint(u.Uid, 10, 32)
	if err != nil {
		return nil, err
	}
	gid, err := strconv.ParseUint(u.Gid, 10, 32)
	if err != nil {
		return nil, err
	}
	return &owner{name: name, uid: uint32(uid), gid: uint32(gid)}, nil
}

// take gives a file or a folder to the owner.
func (o *owner) take(path string) error {
	if o == nil {
		return nil
	}
	return os.Chown(path, int(o.uid), int(o.gid))
}

// runAs makes a command run as the owner.
func (o *owner) runAs(cmd *exec.Cmd) {
	if o == nil {
		return
	}
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Credential = &syscall.Credential{Uid: o.uid, Gid: o.gid}
}

// checkReach fails where the owner cannot enter a folder, which depends on all
// the folders above it.
func (o *owner) checkReach(folder string) error {
	if o == nil {
		return nil
	}
	cmd := shell("buzon-postgres-reach", ":")
	cmd.Dir = folder // entered after the change of user
	o.runAs(cmd)
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("postgres: the user %s, as which root runs PostgreSQL, cannot enter %s: use a folder outside of private ones: %w", o.name, folder, err)
	}
	return nil
}

func temporaryParents() []string { return []string{os.TempDir(), "/tmp", "/var/tmp"} }

// makeReadable opens a tree to all users, whatever the umask left of its
// modes. Only root's must be: others run what they own.
func makeReadable(folder string) error {
	if !isRoot() {
		return nil
	}
	root, err := os.OpenRoot(folder)
	if err != nil {
		return err
	}
	defer root.Close()
	return fs.WalkDir(root.FS(), ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.Type()&fs.ModeSymlink != 0 {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		return root.Chmod(path, readable(info.Mode().Perm()))
	})
}

// readable gives to all what the owner has, except writing.
func readable(mode fs.FileMode) fs.FileMode {
	if mode&0o100 != 0 {
		mode |= 0o111
	}
	return mode | 0o444
}
