package mail

import (
	"context"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	"github.com/buzon-go/buzon/internal/timing"
)

// keeper holds a claim while its message is sent: it renews the lease, and
// stops the sending before the final dot when the claim is not owned any more.
type keeper struct {
	mailer *Mailer
	claim  *claim

	ctx          context.Context // the sending's; ends when the claim is lost before the dot
	end          context.CancelCauseFunc
	stopRenewing context.CancelFunc
	done         chan struct{} // closed when the renewal has ended

	mu       sync.Mutex
	deadline time.Time // of the lease by this process's clock, counted from before the database's
	isLost   bool      // the claim ended before the dot
	isPast   bool      // commit has returned nil: the dot may have been written
}

// keep starts to renew a claim that was asked for at the given time.
func (m *Mailer) keep(ctx context.Context, c *claim, asked time.Time) *keeper {
	k := &keeper{mailer: m, claim: c, done: make(chan struct{}), deadline: asked.Add(m.config.Lease)}
	k.ctx, k.end = context.WithCancelCause(ctx)
	// Renewal goes on when ctx has ended: the reply to the dot may still come.
	renewing, stop := context.WithCancel(context.WithoutCancel(ctx))
	k.stopRenewing = stop
	go k.renew(renewing)
	return k
}

// transmit sends the message, and keeps the claim until that has ended. A Sender
// that panics is one that failed; what is known then is whether the dot may
// have been written.
func (k *keeper) transmit(sender Sender, message *Message) (receipt Receipt, err error) {
	defer k.stop()
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the sender panicked: %v\n%s", p, debug.Stack())
		}
	}()
	return sender.Send(k.ctx, message, k.commit)
}

// stop ends the renewal and waits for it.
func (k *keeper) stop() {
	k.stopRenewing()
	<-k.done
	k.end(nil)
}

// renew prolongs the claim in every third of its lease. A database that cannot
// be reached is no lost claim: it is asked again, sooner.
func (k *keeper) renew(ctx context.Context) {
	defer close(k.done)
	lease := k.mailer.config.Lease
	for wait := lease / 3; timing.Pause(ctx, wait); {
		asked := time.Now()
		var owned bool
		err := timing.Within(ctx, min(lease/4, lastRecordTimeout), func(ctx context.Context) (err error) {
			owned, err = k.mailer.store.renew(ctx, k.mailer.pool, k.claim)
			return err
		})
		switch {
		case err != nil:
			wait = recordPause(lease)
		case !owned:
			k.lose()
			return
		default:
			wait = lease / 3
			k.extend(asked.Add(lease))
		}
	}
}

func (k *keeper) extend(deadline time.Time) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.deadline = deadline
}

// lose stops the sending, unless the dot may have been written: then its reply
// is worth waiting for, whoever owns the claim.
func (k *keeper) lose() {
	k.mu.Lock()
	defer k.mu.Unlock()
	if !k.isPast {
		k.isLost = true
		k.end(ErrClaimLost)
	}
}

// commit is called right before the final dot. For kinds that are held it
// commits a mark first; for the others it checks what can be checked without
// waiting, the claim's own deadline.
func (k *keeper) commit(ctx context.Context) error {
	if k.claim.onUnknown == Hold {
		owned, err := k.mailer.store.mark(ctx, k.mailer.pool, k.claim)
		if err != nil {
			return fmt.Errorf("mark before the final dot: %w", err)
		}
		if !owned {
			k.lose()
			return ErrClaimLost
		}
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.isLost || !time.Now().Before(k.deadline) {
		k.isLost = true
		return ErrClaimLost
	}
	k.isPast = true
	return nil
}

// lost reports whether the claim ended before the dot.
func (k *keeper) lost() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.isLost
}

// committed reports whether the dot may have been written.
func (k *keeper) committed() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.isPast
}
