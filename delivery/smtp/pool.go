package smtp

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/buzon-go/buzon/delivery/mail"
)

// pools holds a pool for each integration in use. Settings that changed are
// another integration, and so never meet a connection made with the old ones.
type pools struct {
	config Config

	mu      sync.Mutex
	pools   map[Integration]*pool
	active  int // Sends, and goodbyes, that are going on
	closed  bool
	drained chan struct{} // closed when closed and nothing is active
}

func newPools(config Config) *pools {
	return &pools{config: config, pools: make(map[Integration]*pool), drained: make(chan struct{})}
}

// A pool holds the idle connections of one integration, and counts all of them.
type pool struct {
	all         *pools
	integration Integration
	slots       chan struct{} // one for each connection that may be open
	users       int           // Sends that have the pool; guarded by all.mu
	idle        []*idle       // newest last; guarded by all.mu
}

type idle struct {
	session *session
	expiry  *time.Timer
}

// enter waits for a free connection's slot of the integration. leave gives it
// back. That there is none is nobody's failure, so only ctx's end is one.
func (p *pools) enter(ctx context.Context, in Integration) (*visit, error) {
	pool, err := p.pool(in)
	if err != nil {
		return nil, &mail.SendError{Phase: mail.PhaseDial, Reach: mail.ReachServer, Certainty: mail.NotAccepted,
			Temporary: true, Err: err}
	}
	if pool.wait(ctx) {
		return &visit{pool: pool}, nil
	}
	pool.forget()
	return nil, &mail.SendError{Phase: mail.PhaseDial, Reach: mail.ReachMessage, Certainty: mail.NotAccepted,
		Temporary: true, Err: fmt.Errorf("waiting for a free connection: %w", gaveUp(ctx))}
}

func (p *pools) pool(in Integration) (*pool, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil, ErrClosed
	}
	found, ok := p.pools[in]
	if !ok {
		found = &pool{all: p, integration: in, slots: make(chan struct{}, p.config.MaxConnections)}
		p.pools[in] = found
	}
	found.users++
	p.active++
	return found, nil
}

// A visit is one Send's use of a pool: it has a slot.
type visit struct {
	*pool
	quitting bool // the slot is left when the connection has been closed
}

// leave gives back what enter gave.
func (v *visit) leave() {
	if !v.quitting {
		v.pool.leave()
	}
}

// wait takes a slot, and reports whether it could before ctx ended.
func (p *pool) wait(ctx context.Context) bool {
	if ctx.Err() != nil {
		return false
	}
	select {
	case p.slots <- struct{}{}:
		return true
	case <-ctx.Done():
		return false
	}
}

// leave gives a slot back.
func (p *pool) leave() {
	<-p.slots
	p.forget()
}

func (p *pool) forget() {
	p.all.mu.Lock()
	defer p.all.mu.Unlock()
	p.users--
	p.dropIfUnused()
	p.all.finish()
}

// dropIfUnused forgets settings that nobody uses any more.
func (p *pool) dropIfUnused() {
	if p.users == 0 && len(p.idle) == 0 {
		delete(p.all.pools, p.integration)
	}
}

// finish ends what was active.
func (p *pools) finish() {
	p.active--
	if p.closed && p.active == 0 {
		close(p.drained)
	}
}

// take returns the connection that was used last, since the server has had the
// least time to close it; nil if there is none.
func (p *pool) take() *session {
	p.all.mu.Lock()
	defer p.all.mu.Unlock()
	last := len(p.idle) - 1
	if last < 0 {
		return nil
	}
	newest := p.idle[last]
	p.idle = p.idle[:last]
	newest.expiry.Stop()
	return newest.session
}

// put takes a connection back, keeps it if it can be used again, and otherwise
// closes it without keeping the Send waiting. The slot waits for that, lest
// there be more connections than the integration may have.
func (v *visit) put(s *session) {
	if s.broken || s.replies.unread() {
		s.wire.cut()
		return
	}
	v.all.mu.Lock()
	defer v.all.mu.Unlock()
	if v.all.closed || s.messages >= s.limit {
		v.quitting = true
		go v.pool.quit(s)
		return
	}
	kept := &idle{session: s}
	kept.expiry = time.AfterFunc(v.all.config.IdleTimeout, func() { v.expire(kept) })
	v.idle = append(v.idle, kept)
}

// quit says goodbye and leaves the slot that the connection had.
func (p *pool) quit(s *session) {
	s.quit()
	p.leave()
}

// expire closes a connection that nobody has taken in time.
func (p *pool) expire(old *idle) {
	p.all.mu.Lock()
	defer p.all.mu.Unlock()
	for i, kept := range p.idle {
		if kept == old {
			p.idle = append(p.idle[:i], p.idle[i+1:]...)
			p.close(old.session)
			return
		}
	}
}

// close closes an idle connection: with a goodbye if there is a slot for the
// time that it takes, and at once if Sends have taken them all.
func (p *pool) close(s *session) {
	select {
	case p.slots <- struct{}{}:
		p.users++
		p.all.active++
		go p.quit(s)
	default:
		s.wire.cut()
		p.dropIfUnused()
	}
}

// quit says goodbye in a goroutine that close waits for.
func (p *pools) quit(s *session) {
	p.active++
	go func() {
		s.quit()
		p.mu.Lock()
		defer p.mu.Unlock()
		p.finish()
	}()
}

// close closes what is idle and waits until nothing is active.
func (p *pools) close(ctx context.Context) error {
	p.shut()
	select {
	case <-p.drained:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (p *pools) shut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return
	}
	p.active++ // until everything idle has been told to quit
	p.closed = true
	for _, pool := range p.pools {
		for _, kept := range pool.idle {
			kept.expiry.Stop()
			p.quit(kept.session)
		}
		pool.idle = nil
		pool.dropIfUnused()
	}
	p.finish()
}
