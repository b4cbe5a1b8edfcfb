package timing

import (
	"sync"
	"time"
)

// Calm knows how long something has gone without trouble. The zero value has
// always been calm.
type Calm struct {
	mu    sync.Mutex
	since time.Time
}

// Disturb begins the calm anew.
func (c *Calm) Disturb() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.since = time.Now()
}

// Left returns how much is missing to a calm of length d; zero or less means
// nothing.
func (c *Calm) Left(d time.Duration) time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return d - time.Since(c.since)
}
