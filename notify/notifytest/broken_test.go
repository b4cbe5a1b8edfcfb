package notifytest_test

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/buzon-go/buzon/delivery"
	"github.com/buzon-go/buzon/notify"
	"github.com/buzon-go/buzon/notify/notifytest"
	"github.com/buzon-go/buzon/retry"
)

// brief is how long a host that never answers is waited for, and long enough for
// one that answers.
const brief = 5 * time.Second

var errBroken = errors.New("broken")

// A rule is one of the kit's that every method has to keep, and how to break it.
type rule struct {
	name  string
	harm  func(t *testing.T, known []string) sabotage
	wants string // in the error, after the method's name
	skip  []string
}

var rules = []rule{
	{
		name: "what is there is found", wants: `gives the error "not found"; want the `,
		harm: onKnown(func(context.Context, func() error) error { return notify.ErrNotFound }),
	},
	{
		name: "what is there is found again", wants: `, asked once more, gives the error "broken"; want the answer that came at first`,
		harm: onceMore(errBroken),
	},
	{
		name: "what is there is the same again", wants: `, asked once more, gives another answer than at first`,
		harm: onceMore(nil),
	},
	{
		name: "an unknown id is not found", wants: `gives the error "broken"; want notify.ErrNotFound`,
		harm: onUnknown(func() error { return errBroken }),
	},
	{
		name: "an unknown id is not skipped", wants: `gives a delivery.Skip; want notify.ErrNotFound`,
		harm: onUnknown(func() error { return delivery.Skip("there is none") }),
	},
	{
		name: "an unknown id finds nothing", wants: `, "' OR '' = '"`,
		harm: replacing(1, func(string) bool { return true }), skip: []string{"Tenants.Tenant"},
	},
	{
		name: "an unknown tenant has nothing", wants: `("nul\x00nul"`,
		harm: replacing(0, func(code string) bool { return code != "globex" }),
	},
	{
		name: "another tenant has nothing of it", wants: `gives no error; want notify.ErrNotFound: it is tenant "acme"'s`,
		harm: replacing(0, func(code string) bool { return code == "globex" }), skip: []string{"Tenants.Tenant"},
	},
	{
		name: "a cancelled context does not make it vanish", wants: `with a cancelled context gives the error "not found", which is notify.ErrNotFound`,
		harm: onEnded(context.Canceled, func(error) error { return notify.ErrNotFound }),
	},
	{
		name: "an expired deadline does not make it vanish", wants: `with an expired deadline gives the error "not found", which is notify.ErrNotFound`,
		harm: onEnded(context.DeadlineExceeded, func(error) error { return notify.ErrNotFound }),
	},
	{
		name: "a cancelled context is not permanent", wants: `which is a retry.Permanent`,
		harm: onEnded(context.Canceled, retry.Permanent),
	},
	{
		name: "a cancelled context is not skipped", wants: `which is a delivery.Skip`,
		harm: onEnded(context.Canceled, func(error) error { return delivery.Skip("stopped") }),
	},
	{
		name: "a cancelled context gives no empty answer", wants: `with a cancelled context gives no error, but another answer than without`,
		harm: onEnded(context.Canceled, func(error) error { return nil }),
	},
	{
		name: "many at once are served", wants: `from 16 goroutines at once gives the error "broken"`,
		harm: oneAtATime,
	},
	{
		name: "many at once get their own answers", wants: `from 16 goroutines at once gives`,
		harm: mixingUp,
	},
	{
		name: "it does not panic", wants: "panicked: broken\n",
		harm: onKnown(func(context.Context, func() error) error { panic("broken") }),
	},
	{
		name: "it does not end its goroutine", wants: "ended the goroutine that called it",
		harm: onKnown(func(context.Context, func() error) error { runtime.Goexit(); return nil }),
	},
	{
		name: "it does not panic on an empty id", wants: "panicked: runtime error: index out of range",
		harm: func(_ *testing.T, _ []string) sabotage {
			return func(_ context.Context, args []string, answer func(...string) error) error {
				for _, arg := range args[:min(len(args), 2)] {
					_ = arg[0]
				}
				return answer(args...)
			}
		},
	},
}

// TestEveryMethodKeepsEveryRule breaks each method by each rule.
func TestEveryMethodKeepsEveryRule(t *testing.T) {
	t.Parallel()
	for _, rule := range rules {
		for method, known := range methods {
			if slices.Contains(rule.skip, method) {
				continue
			}
			t.Run(rule.name+"/"+method, func(t *testing.T) {
				t.Parallel()
				host := saboteur{memory: newMemory(), method: method, do: rule.harm(t, known)}
				err := notifytest.Check(t.Context(), host.check())
				require.Error(t, err)
				faults := strings.Split(err.Error(), "notifytest: ")
				assert.True(t, slices.ContainsFunc(faults, func(fault string) bool {
					return strings.HasPrefix(fault, method) && strings.Contains(fault, rule.wants)
				}), "%q is not said of %s in: %s", rule.wants, method, err)
				assert.Len(t, slices.Compact(slices.Sorted(slices.Values(faults))), len(faults), "each fault once: %s", err)
				for _, fault := range faults {
					assert.True(t, fault == "" || strings.Contains(fault, method), "no fault of another method's: %s", fault)
				}
			})
		}
	}
}

func isKnown(args, known []string) bool { return slices.Equal(args, known) }

// onKnown does harm to what is there.
func onKnown(do func(context.Context, func() error) error) func(*testing.T, []string) sabotage {
	return func(_ *testing.T, known []string) sabotage {
		return func(ctx context.Context, args []string, answer func(...string) error) error {
			if isKnown(args, known) {
				return do(ctx, func() error { return answer(args...) })
			}
			return answer(args...)
		}
	}
}

// onceMore gives err, or nothing, when it is asked again for what is there.
func onceMore(err error) func(*testing.T, []string) sabotage {
	return func(t *testing.T, known []string) sabotage {
		var asked atomic.Bool
		return onKnown(func(ctx context.Context, answer func() error) error {
			if ctx.Err() == nil && asked.Swap(true) {
				return err
			}
			return answer()
		})(t, known)
	}
}

// onUnknown gives another error than ErrNotFound.
func onUnknown(fault func() error) func(*testing.T, []string) sabotage {
	return func(*testing.T, []string) sabotage {
		return func(_ context.Context, args []string, answer func(...string) error) error {
			if err := answer(args...); errors.Is(err, notify.ErrNotFound) {
				return fault()
			}
			return answer(args...)
		}
	}
}

// replacing takes the values of one argument for that of what is there.
func replacing(at int, which func(string) bool) func(*testing.T, []string) sabotage {
	return func(_ *testing.T, known []string) sabotage {
		return func(_ context.Context, args []string, answer func(...string) error) error {
			if which(args[at]) {
				args = slices.Clone(args)
				args[at] = known[at]
			}
			return answer(args...)
		}
	}
}

// onEnded gives another error when the context has ended in that way.
func onEnded(how error, fault func(error) error) func(*testing.T, []string) sabotage {
	return func(*testing.T, []string) sabotage {
		return func(ctx context.Context, args []string, answer func(...string) error) error {
			if errors.Is(ctx.Err(), how) {
				return fault(ctx.Err())
			}
			return answer(args...)
		}
	}
}

// others lets the other goroutines run.
func others() {
	for range 1000 {
		runtime.Gosched()
	}
}

// oneAtATime turns away who comes while somebody is served.
func oneAtATime(*testing.T, []string) sabotage {
	var serving sync.Mutex
	return func(_ context.Context, args []string, answer func(...string) error) error {
		if !serving.TryLock() {
			return errBroken
		}
		defer serving.Unlock()
		others()
		return answer(args...)
	}
}

// mixingUp answers what it was asked last, by whomever.
func mixingUp(*testing.T, []string) sabotage {
	var last atomic.Value
	return func(_ context.Context, args []string, answer func(...string) error) error {
		last.Store(args)
		others()
		return answer(last.Load().([]string)...)
	}
}

// TestAHostThatNeverReturnsIsLeft says of the first such call that it did not
// return, and asks the method nothing more.
func TestAHostThatNeverReturnsIsLeft(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		method string
		end    error // of the contexts with which it does not return
		wants  string
	}{
		"at all":                        {"Users.User", nil, `Users.User("acme", "7") did not return within 5s`},
		"when its context is cancelled": {"EventDates.PurchaseIDs", context.Canceled, `"") with a cancelled context did not return within 5s`},
		"when its deadline has expired": {"Tickets.Tickets", context.DeadlineExceeded, `"p1") with an expired deadline did not return within 5s`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			end := make(chan struct{})
			t.Cleanup(func() { close(end) })
			host := saboteur{memory: newMemory(), method: test.method}
			host.do = func(ctx context.Context, args []string, answer func(...string) error) error {
				if errors.Is(ctx.Err(), test.end) {
					<-end
				}
				return answer(args...)
			}
			config := host.check()
			config.Limit = brief
			err := notifytest.Check(t.Context(), config)
			require.ErrorContains(t, err, test.wants)
			assert.Equal(t, 1, strings.Count(err.Error(), "notifytest: "), "%s", err)
		})
	}
}

func TestAHostThatIsTooSlowIsToldToComeBack(t *testing.T) {
	t.Parallel()
	back := make(chan error, 1)
	host := saboteur{memory: newMemory(), method: "Users.User"}
	host.do = func(ctx context.Context, _ []string, _ func(...string) error) error {
		<-ctx.Done()
		back <- ctx.Err()
		return ctx.Err()
	}
	config := host.check()
	config.Limit = brief
	require.ErrorContains(t, notifytest.Check(t.Context(), config), `Users.User("acme", "7") did not return within 5s`)
	require.ErrorIs(t, <-back, context.Canceled)
}

// Each id that is not there has a host that stumbles over it alone.
func TestEveryUnknownIDMatters(t *testing.T) {
	t.Parallel()
	contains := func(text string) func(string) bool {
		return func(id string) bool { return strings.Contains(id, text) }
	}
	for name, stumbles := range map[string]func(string) bool{
		"text":                        func(id string) bool { return strings.HasPrefix(id, "unknown-") },
		"UUID":                        func(id string) bool { return len(id) == 36 && strings.Count(id, "-") == 4 && id[14] == '4' },
		"largest number":              func(id string) bool { return id == "9223372036854775807" },
		"number that is too large":    func(id string) bool { return id == "99999999999999999999" },
		"negative number":             func(id string) bool { return id == "-1" },
		"nothing":                     func(id string) bool { return id == "" },
		"length":                      func(id string) bool { return len(id) >= 10_000 },
		"apostrophe":                  func(id string) bool { return id == "'" },
		"quotation mark":              contains(`"`),
		"backtick":                    contains("`"),
		"backslash":                   contains(`\`),
		"percent sign":                contains("%"),
		"underscore":                  contains("_"),
		"asterisk":                    contains("*"),
		"colon":                       contains(":"),
		"new line":                    contains("\n"),
		"NUL":                         contains("\x00"),
		"bytes that are no UTF-8":     contains("\xff"),
		"condition in SQL":            contains("OR"),
		"way up in a tree of folders": contains("../"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			host := saboteur{memory: newMemory(), method: "Users.User"}
			host.do = func(_ context.Context, args []string, answer func(...string) error) error {
				if stumbles(args[0]) || stumbles(args[1]) {
					return errBroken
				}
				return answer(args...)
			}
			err := notifytest.Check(t.Context(), host.check())
			require.Error(t, err)
			assert.Equal(t, 2, strings.Count(err.Error(), `"broken"`), "as a tenant's code and as a user's id: %s", err)
		})
	}
}
