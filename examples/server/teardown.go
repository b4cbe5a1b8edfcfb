package main

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// A teardown ends what was started, the last first: what was started later
// needs what was started earlier.
type teardown struct {
	parts []part
}

type part struct {
	name string
	end  func(context.Context) error
}

// add notes a part that was started, and how it is ended.
func (t *teardown) add(name string, end func(context.Context) error) {
	t.parts = append(t.parts, part{name, end})
}

// endLimit is how long each part may take. The runner, which lets jobs finish,
// has limits of its own.
const endLimit = 10 * time.Second

// end ends all parts, whatever becomes of each.
func (t *teardown) end(ctx context.Context) error {
	var faults []error
	for i := len(t.parts) - 1; i >= 0; i-- {
		if err := t.parts[i].endWithin(ctx, endLimit); err != nil {
			faults = append(faults, err)
		}
	}
	return errors.Join(faults...)
}

func (p part) endWithin(ctx context.Context, limit time.Duration) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), limit)
	defer cancel()
	if err := p.end(ctx); err != nil {
		return fmt.Errorf("%s: %w", p.name, err)
	}
	return nil
}
