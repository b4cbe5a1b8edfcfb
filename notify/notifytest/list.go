package notifytest

import (
	"context"
	"fmt"
	"iter"
	"slices"

	"github.com/buzon-go/buzon/delivery/mail"
)

// fewest is how many ids a list must have for its checks to mean something: a
// first, a last, and one between.
const fewest = 3

// most is how much of a list is looked at.
const most = 10_000

// A list is the host's list of the purchases of a date: a lookup as the others
// are, and more.
type list struct {
	*lookup[[]string]
}

// args of a list.
const (
	argDate  = 1
	argAfter = 2
)

func (k *kit) list() list {
	return list{&lookup[[]string]{
		kit: k, method: "EventDates.PurchaseIDs", finds: "the list", args: []string{k.host.TenantCode, k.host.EventDateID, ""},
		ask: func(ctx context.Context, args []string) ([]string, error) {
			return collect(k.ids(ctx, args), k.longest())
		},
		check: k.checkIDs, differ: listsThatDiffer,
		isNone: func(ids []string) bool { return len(ids) == 0 },
	}}
}

func (k *kit) ids(ctx context.Context, args []string) iter.Seq2[string, error] {
	return k.host.EventDates.PurchaseIDs(ctx, args[0], args[argDate], args[argAfter])
}

// longest is how many ids are read of a list at most.
func (k *kit) longest() int { return max(most, len(k.host.PurchaseIDs)+1) }

// collect reads a list: to its end, to an error, to an id that came before, or
// to most ids.
func collect(ids iter.Seq2[string, error], most int) ([]string, error) {
	var all []string
	seen := map[string]bool{}
	for id, err := range ids {
		if err != nil {
			return all, err
		}
		all = append(all, id)
		if seen[id] || len(all) == most {
			break
		}
		seen[id] = true
	}
	return all, nil
}

// check makes all checks of the list.
func (l list) check(ctx context.Context) {
	whole, valid := l.run(ctx)
	if !valid {
		return
	}
	l.checkRests(ctx, whole)
	l.checkGone(ctx, whole)
	l.checkLeft(ctx, whole)
	l.checkCutShort(ctx, whole)
	l.checkPurchasesAreThere(ctx, whole)
}

// checkIDs returns what is wrong with a whole list.
func (k *kit) checkIDs(ids []string) error {
	seen := map[string]bool{}
	for i, id := range ids {
		if err := mail.CheckKeyPart(id); err != nil {
			return fmt.Errorf("id %d of the list, %.60q, %w: no event could name it, and the whole list would fail", i+1, id, err)
		}
		if seen[id] {
			return fmt.Errorf("%.60q comes twice: each must come once, or the list may never end", id)
		}
		seen[id] = true
	}
	if len(ids) < fewest {
		return fmt.Errorf("it has %d ids; the kit needs a date with at least %d purchases", len(ids), fewest)
	}
	if wanted := k.host.PurchaseIDs; wanted != nil && !slices.Equal(ids, wanted) {
		return fmt.Errorf("it is %s; want %s, as the Host says: buyers would hear nothing, or strangers would", shown(ids), shown(wanted))
	}
	return nil
}

// shown writes a list that may be long.
func shown(ids []string) string {
	const enough = 10
	if len(ids) <= enough {
		return fmt.Sprintf("%.60q", ids)
	}
	return fmt.Sprintf("%.60q and %d more", ids[:enough], len(ids)-enough)
}

func listsThatDiffer(first, later []string) string {
	if slices.Equal(first, later) {
		return ""
	}
	return fmt.Sprintf("%s instead of %s", shown(later), shown(first))
}

// checkRests begins the list after its ids, as the library does after each
// thousand, and after an interruption.
func (l list) checkRests(ctx context.Context, whole []string) {
	for _, i := range points(len(whole)) {
		args, want := l.argsWith(argAfter, whole[i]), whole[i+1:]
		rest, ok, err := l.get(ctx, manner{}, args)
		name := l.name(manner{}, args)
		if !ok {
			return
		}
		if len(whole) == l.longest() { // there may be more of it
			rest = rest[:min(len(rest), len(want))]
		}
		switch {
		case err != nil:
			l.faultf("%s gives the error %q; want the ids that follow: the list would never get past that id", name, err)
		case len(rest) > 0 && rest[0] == whole[i]:
			l.faultf("%s begins with %.60q; want the id that follows it: the library refuses such a list, and the buyers after it would hear nothing", name, whole[i])
		case !slices.Equal(rest, want):
			l.faultf("%s gives %s; want %s, the rest of the list: it is read a part at a time, and buyers would be left out or listed again", name, shown(rest), shown(want))
		}
	}
}

// points returns which ids of a list to begin after: all of a short one, some of
// a long one, its last id always.
func points(length int) []int {
	const enough = 100
	step := max(1, length/enough)
	var at []int
	for i := length - 1; i >= 0; i -= step {
		at = append(at, i)
	}
	slices.Reverse(at)
	return at
}

// checkGone begins the list after an id that is not on it, as when a purchase
// was deleted since. The host may refuse, but not with ids from elsewhere.
func (l list) checkGone(ctx context.Context, whole []string) {
	args := l.argsWith(argAfter, randomID())
	ids, ok, err := l.get(ctx, manner{}, args)
	if !ok || err != nil || len(whole) == l.longest() {
		return
	}
	for _, id := range ids {
		if !slices.Contains(whole, id) {
			l.faultf("%s gives %.60q, which is not on the list: somebody else would get the e-mail", l.name(manner{}, args), id)
			return
		}
	}
}

// timesLeft is more than a pool has connections, or a server of PostgreSQL by
// default.
const timesLeft = 120

// checkLeft leaves the list at its first id, many times.
func (l list) checkLeft(ctx context.Context, whole []string) {
	for times := range timesLeft {
		m := manner{words: fmt.Sprintf(", left at its first id as %d before it (what a list holds, rows and connections, must be given back when it is left),", times)}
		first, ok, err := l.getBy(ctx, m, l.args, func(ctx context.Context) ([]string, error) {
			return collect(l.ids(ctx, l.args), 1)
		})
		switch {
		case !ok:
			return
		case err != nil:
			l.faultf("%s gives the error %q; want its first id: the library leaves a long list after each thousand", l.name(m, l.args), err)
			return
		case !slices.Equal(first, whole[:1]):
			l.faultf("%s begins with %s; want %s: the list must begin anew each time", l.name(m, l.args), shown(first), shown(whole[:1]))
			return
		}
	}
	l.checkSame(ctx, manner{words: fmt.Sprintf(" after %d lists that were left at their first id", timesLeft)}, whole)
}

// checkCutShort ends the list's context while it is being read, at each of its
// first ids.
func (l list) checkCutShort(ctx context.Context, whole []string) {
	for at := 1; at <= min(len(whole), fewest); at++ {
		m := manner{words: fmt.Sprintf(", cancelled at id %d,", at)}
		ids, ok, err := l.getBy(ctx, m, l.args, func(ctx context.Context) ([]string, error) {
			ctx, cancel := context.WithCancel(ctx)
			defer cancel()
			return collect(cancelling(l.ids(ctx, l.args), at, cancel), l.longest())
		})
		switch {
		case !ok:
			return
		case err != nil:
			l.checkRetried(l.name(m, l.args), err)
		case !slices.Equal(ids, whole):
			l.faultf("%s ends after %d of %d ids without an error; want one: the library takes that for the end of the list, and the buyers after it would hear nothing",
				l.name(m, l.args), len(ids), len(whole))
		}
	}
	l.checkSame(ctx, manner{words: " after lists that were cancelled"}, whole)
}

// cancelling returns the list, during which cancel is called when its id number
// at has come.
func cancelling(ids iter.Seq2[string, error], at int, cancel func()) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		n := 0
		for id, err := range ids {
			if n++; n == at {
				cancel()
			}
			if !yield(id, err) {
				return
			}
		}
	}
}

// checkPurchasesAreThere looks up the purchases of the list, each of which the
// library writes to. One that was cancelled since is nobody's fault.
func (l list) checkPurchasesAreThere(ctx context.Context, whole []string) {
	for _, i := range points(len(whole)) {
		purchases := l.purchases(whole[i])
		purchase, ok, err := purchases.get(ctx, manner{}, purchases.args)
		if !ok {
			return
		}
		if err == nil && !purchase.Cancelled {
			err = purchase.Validate()
		}
		if err != nil {
			l.faultf("%s gives %q, and %s says %q: the buyer would hear nothing",
				l.name(manner{}, l.args), whole[i], purchases.name(manner{}, purchases.args), err)
		}
	}
}
