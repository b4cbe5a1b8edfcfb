package notifytest

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/buzon-go/buzon/delivery"
	"github.com/buzon-go/buzon/notify"
	"github.com/buzon-go/buzon/retry"
)

// A lookup is a method of the host, which finds a T by texts.
type lookup[T any] struct {
	*kit
	method string // such as "Users.User"
	finds  string // such as "the user"
	ask    func(ctx context.Context, args []string) (T, error)

	// args find what is there: the tenant's code, perhaps an id, and perhaps
	// what does not name a thing.
	args []string

	// check returns what is wrong with what was found.
	check func(T) error
	// differ says how a later answer differs from the first; "" means that it
	// does not.
	differ func(first, later T) string
	// isNone reports an answer that says that there is nothing. nil means that
	// there is none such: it is notify.ErrNotFound.
	isNone func(T) bool

	givenUp atomic.Bool // after a breakdown
}

// run makes the checks that all lookups have in common. It returns what is
// there, and false where that is of no use for further checks.
func (l *lookup[T]) run(ctx context.Context) (T, bool) {
	first, found, valid := l.checkKnown(ctx)
	l.checkUnknown(ctx)
	l.checkOtherTenant(ctx)
	if found {
		l.checkEndedContext(ctx, first)
		l.checkSame(ctx, manner{words: ", asked once more,"}, first)
		l.checkAtOnce(ctx, first)
	}
	return first, valid && !l.givenUp.Load()
}

// get asks the host. It reports false when there is nothing to judge: the host
// broke down, which get has reported, or the whole check was cut short.
func (l *lookup[T]) get(ctx context.Context, m manner, args []string) (found T, ok bool, err error) {
	return l.getBy(ctx, m, args, func(ctx context.Context) (T, error) { return l.ask(ctx, args) })
}

func (l *lookup[T]) getBy(ctx context.Context, m manner, args []string, question func(context.Context) (T, error)) (found T, ok bool, err error) {
	if l.givenUp.Load() || ctx.Err() != nil {
		return found, false, ctx.Err()
	}
	found, err = call(ctx, l.limit, put(m, question))
	if b, broken := asBreakdown(err); broken && l.givenUp.CompareAndSwap(false, true) {
		l.faultf("%s %w", l.name(m, args), b)
	}
	return found, !l.givenUp.Load() && ctx.Err() == nil, err
}

// name returns a call as errors tell it.
func (l *lookup[T]) name(m manner, args []string) string {
	quoted := make([]string, len(args))
	for i, arg := range args {
		quoted[i] = fmt.Sprintf("%.60q", arg)
	}
	return fmt.Sprintf("%s(%s)%s", l.method, strings.Join(quoted, ", "), m.words)
}

// checkKnown asks for what is there.
func (l *lookup[T]) checkKnown(ctx context.Context) (answer T, found, valid bool) {
	answer, ok, err := l.get(ctx, manner{}, l.args)
	if !ok {
		return answer, false, false
	}
	if err != nil {
		l.faultf("%s gives the error %q; want %s, which is there by what the Host says", l.name(manner{}, l.args), err, l.finds)
		return answer, false, false
	}
	if err := l.check(answer); err != nil {
		l.faultf("%s gives %s in a form that cannot be used: %w", l.name(manner{}, l.args), l.finds, err)
		return answer, true, false
	}
	return answer, true, true
}

// checkUnknown asks by ids, and for tenants, that are not there.
func (l *lookup[T]) checkUnknown(ctx context.Context) {
	for at := range min(len(l.args), 2) {
		for _, id := range unknown() {
			l.checkNotThere(ctx, manner{}, l.argsWith(at, id), "the e-mail would be made of what is not there, or is somebody else's")
		}
	}
}

// checkOtherTenant asks for what is the first tenant's in the name of another.
func (l *lookup[T]) checkOtherTenant(ctx context.Context) {
	if l.host.OtherTenantCode == "" || len(l.args) < 2 {
		return
	}
	l.checkNotThere(ctx, manner{}, l.argsWith(0, l.host.OtherTenantCode),
		fmt.Sprintf("it is tenant %q's, and one tenant's people would get another's e-mails", l.host.TenantCode))
}

func (l *lookup[T]) argsWith(at int, value string) []string {
	args := slices.Clone(l.args)
	args[at] = value
	return args
}

// checkNotThere expects to hear that there is no such thing, and nothing else.
func (l *lookup[T]) checkNotThere(ctx context.Context, m manner, args []string, harm string) {
	found, ok, err := l.get(ctx, m, args)
	if !ok {
		return
	}
	_, skipped := delivery.SkipReason(err)
	switch {
	case err == nil && l.isNone != nil && l.isNone(found):
	case err == nil:
		l.faultf("%s gives no error; want notify.ErrNotFound: %s", l.name(m, args), harm)
	case skipped:
		l.faultf("%s gives a delivery.Skip; want notify.ErrNotFound: the job would count as done, without a word of what is missing", l.name(m, args))
	case !errors.Is(err, notify.ErrNotFound):
		l.faultf("%s gives the error %q; want notify.ErrNotFound: any other error is retried, and no retry makes it exist", l.name(m, args), err)
	}
}

// checkEndedContext asks while a runner stops, as it were.
func (l *lookup[T]) checkEndedContext(ctx context.Context, first T) {
	for _, m := range ended {
		found, ok, err := l.get(ctx, m, l.args)
		switch {
		case !ok:
			return
		case err != nil:
			l.checkRetried(l.name(m, l.args), err)
		default:
			if difference := l.differ(first, found); difference != "" {
				l.faultf("%s gives no error, but another answer than without (%s); want an error, or the same answer: half an answer would be taken for a whole one",
					l.name(m, l.args), difference)
			}
		}
	}
}

// checkRetried expects an error that says nothing of what was asked for.
func (l *lookup[T]) checkRetried(name string, err error) {
	_, skipped := delivery.SkipReason(err)
	for _, fault := range []struct {
		name, effect string
		faulty       bool
	}{
		{"is notify.ErrNotFound", "fail for good", errors.Is(err, notify.ErrNotFound)},
		{"is a retry.Permanent", "fail for good", retry.IsPermanent(err)},
		{"is a delivery.Skip", "count as done", skipped},
	} {
		if fault.faulty {
			l.faultf("%s gives the error %q, which %s; want one that is retried: the jobs that run while a runner stops would %s",
				name, err, fault.name, fault.effect)
		}
	}
}

const (
	callers = 16 // at once
	calls   = 4  // of each
	nobody  = "notifytest-nobody"
)

// checkAtOnce asks from many goroutines, half of them for what is not there, so
// that answers that get mixed up show.
func (l *lookup[T]) checkAtOnce(ctx context.Context, first T) {
	m := manner{words: fmt.Sprintf(" from %d goroutines at once", callers)}
	var all sync.WaitGroup
	start := make(chan struct{})
	for i := range callers {
		all.Go(func() {
			<-start
			for range calls {
				if i%2 == 0 {
					l.checkSame(ctx, m, first)
				} else {
					l.checkNotThere(ctx, m, l.stranger(), "answers get mixed up")
				}
			}
		})
	}
	close(start)
	all.Wait()
}

// stranger returns arguments that find nothing, in another tenant where there
// is one.
func (l *lookup[T]) stranger() []string {
	switch {
	case len(l.args) < 2:
		return l.argsWith(0, nobody)
	case l.host.OtherTenantCode == "":
		return l.argsWith(1, nobody)
	}
	return l.argsWith(0, l.host.OtherTenantCode)
}

// checkSame expects the first answer again.
func (l *lookup[T]) checkSame(ctx context.Context, m manner, first T) {
	found, ok, err := l.get(ctx, m, l.args)
	if !ok {
		return
	}
	if err != nil {
		l.faultf("%s gives the error %q; want the answer that came at first: e-mails would fail now and then", l.name(m, l.args), err)
		return
	}
	if difference := l.differ(first, found); difference != "" {
		l.faultf("%s gives another answer than at first (%s); want the same: an e-mail would say what is not so", l.name(m, l.args), difference)
	}
}

// fieldsThatDiffer names the fields of two structs that differ, and not what is
// in them.
func fieldsThatDiffer[T any](first, later T) string {
	x, y := reflect.ValueOf(first), reflect.ValueOf(later)
	var names []string
	for i := range x.NumField() {
		if !reflect.DeepEqual(x.Field(i).Interface(), y.Field(i).Interface()) {
			names = append(names, x.Type().Field(i).Name)
		}
	}
	if len(names) == 0 {
		return ""
	}
	return "it differs in " + strings.Join(names, ", ")
}
