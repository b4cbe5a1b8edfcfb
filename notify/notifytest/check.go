package notifytest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/buzon-go/buzon/notify"
)

// Check asks the host what the library asks it, what it might ask at the worst
// of times, and what it should never ask. It returns everything that is wrong,
// joined, or nil. The error names methods, ids and fields, and holds the text of
// the host's own errors, but no address and no code. What is asked is said in
// the package documentation.
//
// A call that does not return in time, or panics, is reported, and the rest of
// that method's checks are left out; the goroutine of one that never returns is
// left behind. When ctx ends, so does Check, with an error that says so.
func Check(ctx context.Context, host Host) error {
	if err := host.validate(); err != nil {
		return fmt.Errorf("notifytest: %w", err)
	}
	k := &kit{host: host, limit: cmp.Or(host.Limit, notify.DefaultLoadTimeout)}
	k.checkAccounts(ctx)
	k.checkPurchases(ctx)
	k.checkEventDates(ctx)
	if ctx.Err() != nil {
		k.faultf("the check was cut short: %w", context.Cause(ctx))
	}
	return errors.Join(k.faults...)
}

// A kit is one check of one host.
type kit struct {
	host  Host
	limit time.Duration

	mu     sync.Mutex
	faults []error
}

// faultf adds what is wrong, once.
func (k *kit) faultf(format string, args ...any) {
	fault := fmt.Errorf("notifytest: "+format, args...)
	k.mu.Lock()
	defer k.mu.Unlock()
	if !slices.ContainsFunc(k.faults, func(known error) bool { return known.Error() == fault.Error() }) {
		k.faults = append(k.faults, fault)
	}
}
