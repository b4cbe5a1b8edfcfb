package smtptest

import (
	"context"
	"sync"
)

// An inbox keeps the newest messages, and wakes whoever waits for one.
type inbox struct {
	keep int // 0 for all

	mu      sync.Mutex
	kept    []Message
	total   int
	arrived chan struct{} // closed and replaced at every message
}

func (b *inbox) init(keep int) {
	b.keep = keep
	b.arrived = make(chan struct{})
}

func (b *inbox) add(m Message) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.total++
	m.Number = b.total
	b.kept = append(b.kept, m)
	if b.keep > 0 && len(b.kept) > b.keep {
		b.kept = append([]Message(nil), b.kept[len(b.kept)-b.keep:]...)
	}
	close(b.arrived)
	b.arrived = make(chan struct{})
}

func (b *inbox) messages() []Message {
	b.mu.Lock()
	defer b.mu.Unlock()
	return append([]Message(nil), b.kept...)
}

func (b *inbox) accepted() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.total
}

func (b *inbox) wait(ctx context.Context, n int) error {
	for {
		b.mu.Lock()
		total, arrived := b.total, b.arrived
		b.mu.Unlock()
		if total >= n {
			return nil
		}
		select {
		case <-arrived:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
