package notifytest

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"
)

// A breakdown is what takes the place of an answer when there is none.
type breakdown struct{ text string }

func (b *breakdown) Error() string { return b.text }

// call calls the host, for at most limit. A panic, the end of the goroutine and
// the lack of an answer are errors of type *breakdown. A host that heeds its
// context is then told to come back; one that does not is left behind.
func call[T any](ctx context.Context, limit time.Duration, question func(context.Context) (T, error)) (T, error) {
	type answer struct {
		found T
		err   error
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	answers := make(chan answer, 1)
	go func() {
		a := answer{err: &breakdown{"ended the goroutine that called it"}}
		defer func() {
			if p := recover(); p != nil {
				a.err = &breakdown{fmt.Sprintf("panicked: %v\n%s", p, debug.Stack())}
			}
			answers <- a
		}()
		a.found, a.err = question(ctx)
	}()
	patience := time.NewTimer(limit)
	defer patience.Stop()
	var a answer
	select {
	case a = <-answers:
	case <-ctx.Done():
		a.err = context.Cause(ctx)
	case <-patience.C:
		a.err = &breakdown{fmt.Sprintf("did not return within %s: a job of the library's would wait for it, and then fail", limit)}
	}
	return a.found, a.err
}

// A manner is how a question is put.
type manner struct {
	words string // that follow the call's name
	with  func(context.Context) (context.Context, context.CancelFunc)
}

// put puts a question in the manner.
func put[T any](m manner, question func(context.Context) (T, error)) func(context.Context) (T, error) {
	if m.with == nil {
		return question
	}
	return func(ctx context.Context) (T, error) {
		ctx, cancel := m.with(ctx)
		defer cancel()
		return question(ctx)
	}
}

// ended are the manners of putting a question whose context has ended.
var ended = []manner{
	{" with a cancelled context", func(ctx context.Context) (context.Context, context.CancelFunc) {
		ctx, cancel := context.WithCancel(ctx)
		cancel()
		return ctx, cancel
	}},
	{" with an expired deadline", func(ctx context.Context) (context.Context, context.CancelFunc) {
		return context.WithDeadline(ctx, time.Now().Add(-time.Hour))
	}},
}

// asBreakdown reports whether the host gave no answer at all.
func asBreakdown(err error) (*breakdown, bool) {
	var b *breakdown
	return b, errors.As(err, &b)
}
