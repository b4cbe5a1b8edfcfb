package mailcheck

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"time"
)

// limit bounds a run of another program, so that a fault ends as a failed test
// and not as one that hangs.
const limit = 2 * time.Minute

// output is the standard output of cmd; the error holds what it complains of.
func output(ctx context.Context, cmd *exec.Cmd) ([]byte, error) {
	var complaints bytes.Buffer
	cmd.Stderr = &complaints
	out, err := cmd.Output()
	if err != nil {
		err = fmt.Errorf("%w\n%s", errors.Join(ctx.Err(), err), complaints.Bytes())
	}
	return out, err
}
