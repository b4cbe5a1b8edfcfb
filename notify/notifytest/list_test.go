package notifytest_test

import (
	"context"
	"iter"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/buzon-go/buzon/notify"
	"github.com/buzon-go/buzon/notify/notifytest"
)

// A lister is a correct host, but for its list of the date's purchases.
type lister struct {
	*memory
	list func(ctx context.Context, after string, ids []string) iter.Seq2[string, error]
}

func (l lister) PurchaseIDs(ctx context.Context, tenantCode, eventDateID, after string) iter.Seq2[string, error] {
	ids, err := find(l.lists, [2]string{tenantCode, eventDateID})
	if err != nil {
		return func(yield func(string, error) bool) { yield("", err) }
	}
	return l.list(ctx, after, ids)
}

// rest returns what follows after.
func rest(ids []string, after string) []string { return ids[slices.Index(ids, after)+1:] }

// each lists ids, to what its caller says of each: an error that ends the list.
func each(ids []string, before func(i int) error) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		for i, id := range ids {
			if err := before(i); err != nil {
				yield("", err)
				return
			}
			if !yield(id, nil) {
				return
			}
		}
	}
}

func all(ids []string) iter.Seq2[string, error] {
	return each(ids, func(int) error { return nil })
}

func TestListsThatAreWrong(t *testing.T) {
	t.Parallel()
	type list = func(ctx context.Context, after string, ids []string) iter.Seq2[string, error]
	changed := func(change func(ids []string) []string) func() list {
		return func() list {
			return func(_ context.Context, after string, ids []string) iter.Seq2[string, error] {
				return all(rest(change(slices.Clone(ids)), after))
			}
		}
	}
	for name, test := range map[string]struct {
		list  func() list // with a state of its own
		wants string
	}{
		"an id twice": {
			changed(func(ids []string) []string { return append(ids, "p2") }),
			`"p2" comes twice: each must come once`,
		},
		"no end, and always another": {
			func() list {
				return func(ctx context.Context, _ string, _ []string) iter.Seq2[string, error] {
					return func(yield func(string, error) bool) {
						for n := 1; yield(strings.Repeat("x", n%200+1)+strings.Repeat("y", n/200), nil); n++ {
						}
					}
				}
			},
			`want ["p1" "p2" "p3" "p4"], as the Host says`,
		},
		"an id that no key can hold": {
			changed(func(ids []string) []string { return append(ids, "p 5") }),
			`id 5 of the list, "p 5", holds ' '`,
		},
		"too few to tell": {
			changed(func(ids []string) []string { return ids[:2] }),
			`it has 2 ids; the kit needs a date with at least 3 purchases`,
		},
		"one too few": {
			changed(func(ids []string) []string { return ids[:3] }),
			`it is ["p1" "p2" "p3"]; want ["p1" "p2" "p3" "p4"], as the Host says`,
		},
		"another order than is told": {
			changed(func(ids []string) []string { slices.Reverse(ids); return ids }),
			`it is ["p4" "p3" "p2" "p1"]; want`,
		},
		"begins with what it should follow": {
			func() list {
				return func(_ context.Context, after string, ids []string) iter.Seq2[string, error] {
					return all(ids[max(slices.Index(ids, after), 0):])
				}
			},
			`EventDates.PurchaseIDs("acme", "d1", "p3") begins with "p3"; want the id that follows it`,
		},
		"leaves out the one that follows": {
			func() list {
				return func(_ context.Context, after string, ids []string) iter.Seq2[string, error] {
					ids = rest(ids, after)
					if after == "p2" {
						ids = ids[1:]
					}
					return all(ids)
				}
			},
			`EventDates.PurchaseIDs("acme", "d1", "p2") gives ["p4"]; want ["p3" "p4"], the rest of the list`,
		},
		"begins anew after the last": {
			func() list {
				return func(_ context.Context, after string, ids []string) iter.Seq2[string, error] {
					if after == "p4" {
						after = ""
					}
					return all(rest(ids, after))
				}
			},
			`EventDates.PurchaseIDs("acme", "d1", "p4") gives ["p1" "p2" "p3" "p4"]; want [], the rest of the list`,
		},
		"fails after an id": {
			func() list {
				return func(_ context.Context, after string, ids []string) iter.Seq2[string, error] {
					return each(rest(ids, after), func(int) error {
						if after == "p1" {
							return errBroken
						}
						return nil
					})
				}
			},
			`EventDates.PurchaseIDs("acme", "d1", "p1") gives the error "broken"; want the ids that follow`,
		},
		"goes elsewhere after an id that is gone": {
			func() list {
				return func(_ context.Context, after string, ids []string) iter.Seq2[string, error] {
					if after != "" && !slices.Contains(ids, after) {
						ids = []string{"somebody-elses"}
					}
					return all(rest(ids, after))
				}
			},
			`gives "somebody-elses", which is not on the list`,
		},
		"panics after an id that is gone": {
			func() list {
				return func(_ context.Context, after string, ids []string) iter.Seq2[string, error] {
					if after == "" {
						return all(ids)
					}
					return all(ids[slices.Index(ids, after):][1:])
				}
			},
			`panicked: runtime error: slice bounds out of range`,
		},
		"is nil": {
			func() list {
				return func(context.Context, string, []string) iter.Seq2[string, error] { return nil }
			},
			`EventDates.PurchaseIDs("acme", "d1", "") panicked: runtime error: invalid memory address`,
		},
		"does not stop when it is left": {
			func() list {
				return func(_ context.Context, after string, ids []string) iter.Seq2[string, error] {
					return func(yield func(string, error) bool) {
						for _, id := range rest(ids, after) {
							yield(id, nil)
						}
					}
				}
			},
			`panicked: runtime error: range function continued iteration after function for loop body returned false`,
		},
		"fails when it was left too often": {
			func() list {
				left := atomic.Int64{}
				return func(_ context.Context, after string, ids []string) iter.Seq2[string, error] {
					return leaving(rest(ids, after), &left, func() error {
						if left.Load() == 100 {
							return errBroken
						}
						return nil
					})
				}
			},
			`EventDates.PurchaseIDs("acme", "d1", ""), left at its first id as 100 before it (what a list holds, rows and connections, must be given back when it is left), gives the error "broken"`,
		},
		"goes on where it was left": {
			func() list {
				left := atomic.Int64{}
				return func(_ context.Context, after string, ids []string) iter.Seq2[string, error] {
					return leaving(rest(ids, after)[min(int(left.Load()), len(rest(ids, after))):], &left, func() error { return nil })
				}
			},
			`begins with ["p2"]; want ["p1"]: the list must begin anew each time`,
		},
		"is another after it was left": {
			func() list {
				left := atomic.Int64{}
				return func(_ context.Context, after string, ids []string) iter.Seq2[string, error] {
					if left.Load() > 0 {
						ids = ids[:3]
					}
					return leaving(rest(ids, after), &left, func() error { return nil })
				}
			},
			`after 120 lists that were left at their first id gives another answer than at first (["p1" "p2" "p3"] instead of ["p1" "p2" "p3" "p4"])`,
		},
		"ends silently when it is cancelled": {
			func() list {
				return func(ctx context.Context, after string, ids []string) iter.Seq2[string, error] {
					return func(yield func(string, error) bool) {
						for i, id := range rest(ids, after) {
							if i > 0 && ctx.Err() != nil || !yield(id, nil) {
								return
							}
						}
					}
				}
			},
			`EventDates.PurchaseIDs("acme", "d1", ""), cancelled at id 1, ends after 1 of 4 ids without an error`,
		},
		"ends silently when it is cancelled at its second page": {
			func() list {
				return func(ctx context.Context, after string, ids []string) iter.Seq2[string, error] {
					begun := ctx.Err()
					return func(yield func(string, error) bool) {
						for i, id := range rest(ids, after) {
							if begun == nil && i == 3 && ctx.Err() != nil || !yield(id, nil) {
								return
							}
						}
					}
				}
			},
			`cancelled at id 3, ends after 3 of 4 ids without an error`,
		},
		"vanishes when it is cancelled": {
			func() list {
				return func(ctx context.Context, after string, ids []string) iter.Seq2[string, error] {
					return each(rest(ids, after), func(i int) error {
						if i > 0 && ctx.Err() != nil {
							return notify.ErrNotFound
						}
						return nil
					})
				}
			},
			`EventDates.PurchaseIDs("acme", "d1", ""), cancelled at id 1, gives the error "not found", which is notify.ErrNotFound`,
		},
		"fails once it was cancelled": {
			func() list {
				var cancelled atomic.Bool
				return func(ctx context.Context, after string, ids []string) iter.Seq2[string, error] {
					begun := ctx.Err()
					return each(rest(ids, after), func(int) error {
						if begun == nil && ctx.Err() != nil {
							cancelled.Store(true)
						}
						if cancelled.Load() {
							return errBroken
						}
						return nil
					})
				}
			},
			`after lists that were cancelled gives the error "broken"`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			host := newMemory()
			config := host.check()
			config.EventDates = lister{host, test.list()}
			require.ErrorContains(t, notifytest.Check(t.Context(), config), test.wants)
		})
	}
}

// A page that takes no notice of after is the easiest mistake.
func TestAListThatBeginsAgainIsNotReadOn(t *testing.T) {
	t.Parallel()
	var pages atomic.Int64
	host := newMemory()
	config := host.check()
	config.EventDates = lister{host, func(_ context.Context, after string, ids []string) iter.Seq2[string, error] {
		return notify.Paged(after, func(string) ([]string, error) {
			pages.Add(1)
			return ids, nil
		})
	}}
	require.ErrorContains(t, notifytest.Check(t.Context(), config), `"p1" comes twice: each must come once`)
	require.Less(t, pages.Load(), int64(1000), "it was left when it began again")
}

// leaving counts how often the list is left before its end.
func leaving(ids []string, left *atomic.Int64, before func() error) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		for id, err := range each(ids, func(int) error { return before() }) {
			if !yield(id, err) {
				left.Add(1)
				return
			}
		}
	}
}

func TestPurchasesThatAreListedAndNotThere(t *testing.T) {
	t.Parallel()
	host := newMemory()
	delete(host.purchases, [2]string{"acme", "p3"})
	err := notifytest.Check(t.Context(), host.check())
	require.ErrorContains(t, err,
		`EventDates.PurchaseIDs("acme", "d1", "") gives "p3", and Purchases.Purchase("acme", "p3") says "not found": the buyer would hear nothing`)
}

func TestPurchasesThatAreListedAndCannotBeShown(t *testing.T) {
	t.Parallel()
	host := newMemory()
	edit(host.purchases, [2]string{"acme", "p4"}, func(p *notify.Purchase) { p.Number = "" })
	require.ErrorContains(t, notifytest.Check(t.Context(), host.check()), `Purchases.Purchase("acme", "p4") says "Number is empty"`)
}

func TestPurchasesThatWereCancelledSinceAreNoFault(t *testing.T) {
	t.Parallel()
	host := newMemory()
	edit(host.purchases, [2]string{"acme", "p4"}, func(p *notify.Purchase) { p.Cancelled, p.Number = true, "" })
	require.NoError(t, notifytest.Check(t.Context(), host.check()))
}

// The ends of long lists are looked at too.
func TestLongListsThatLoseTheirEnd(t *testing.T) {
	t.Parallel()
	host := newMemory()
	config := host.check()
	config.Purchases, config.PurchaseIDs = crowd{host, 1000}, nil
	config.EventDates = forgetful{crowd{host, 1000}}
	require.ErrorContains(t, notifytest.Check(t.Context(), config),
		`EventDates.PurchaseIDs("acme", "d1", "01000") gives ["00001"`)
}

// forgetful begins anew after its last id.
type forgetful struct{ crowd }

func (f forgetful) PurchaseIDs(ctx context.Context, tenantCode, eventDateID, after string) iter.Seq2[string, error] {
	if after == "01000" {
		after = ""
	}
	return f.crowd.PurchaseIDs(ctx, tenantCode, eventDateID, after)
}
