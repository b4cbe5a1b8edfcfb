package postgres

import (
	"context"
	"fmt"
	"time"
)

// A mode is one of PostgreSQL's ways to shut down.
type mode int

const (
	fast      mode = iota // sessions are ended, everything is written
	immediate             // processes are ended, the next start recovers
)

// end shuts the server down and waits for its end. When ctx ends, there is no
// more patience with a fast shutdown.
func (p *process) end(ctx context.Context, m mode) error {
	if err := p.order(m); err != nil {
		return err
	}
	if m == fast {
		select {
		case <-p.alive.Done():
		case <-ctx.Done():
			if err := p.order(immediate); err != nil {
				return err
			}
		}
	}
	return p.awaitEnd()
}

// awaitEnd takes its time, whatever became of the caller's context: a server
// that is still there has a folder that cannot be removed.
func (p *process) awaitEnd() error {
	patience := time.NewTimer(killLimit)
	defer patience.Stop()
	select {
	case <-p.alive.Done():
		p.release()
		return nil
	case <-patience.C:
		return fmt.Errorf("the server has not ended after %s", killLimit)
	}
}
