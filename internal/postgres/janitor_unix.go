//go:build unix

package postgres

import (
	"os"
	"os/exec"
)

// cleaning waits for the end of descriptor 3, a pipe whose other end only the
// parent holds, then removes the folder $1 as soon as no server lives in it.
const cleaning = `
cat <&3 >/dev/null
tries=0
while [ -e "$1" ] && [ "$tries" -lt 300 ]; do
	tries=$((tries + 1))
	if read -r server <"$1/cluster/data/postmaster.pid" && kill -0 "$server"; then
		sleep 0.1
	else
		rm -rf "$1" || sleep 0.1
	fi
done 2>/dev/null
`

// A janitor removes a temporary folder after the death of this process,
// whether or not the server was up.
type janitor struct {
	cmd  *exec.Cmd
	pipe *os.File
}

func startJanitor(o *owner, folder string) (*janitor, error) {
	cmd := shell("buzon-postgres-janitor", cleaning, folder)
	cmd.Dir = "/"
	o.runAs(cmd)
	pipe, err := startOnPipe(cmd)
	if err != nil {
		return nil, err
	}
	return &janitor{cmd: cmd, pipe: pipe}, nil
}

// dismiss ends a janitor whose folder is gone.
func (j *janitor) dismiss() {
	_ = j.pipe.Close()
	_ = j.cmd.Wait() // There was nothing left for it to fail at.
}
