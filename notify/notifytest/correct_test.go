package notifytest_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strconv"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/buzon-go/buzon/internal/ticketpdf"
	"github.com/buzon-go/buzon/notify"
	"github.com/buzon-go/buzon/notify/notifytest"
)

func TestACorrectHostPasses(t *testing.T) {
	t.Parallel()
	host := newMemory()
	for name, change := range map[string]func(*notifytest.Host){
		"with everything":        func(*notifytest.Host) {},
		"of one tenant":          func(h *notifytest.Host) { h.OtherTenantCode = "" },
		"whose list is not told": func(h *notifytest.Host) { h.PurchaseIDs = nil },
		"without tickets":        func(h *notifytest.Host) { h.Tickets = notify.NoTickets{} },
		"of accounts only":       func(h *notifytest.Host) { h.Purchases, h.Tickets, h.EventDates = nil, nil, nil },
		"of purchases only":      func(h *notifytest.Host) { h.Users, h.PasswordResets, h.EventDates = nil, nil, nil },
		"that wraps ErrNotFound": func(h *notifytest.Host) { h.Users = wrapping{host} },
		"that answers emptily": func(h *notifytest.Host) {
			h.Tickets, h.EventDates = empty{host}, empty{host}
		},
		"that draws its tickets anew": func(h *notifytest.Host) { h.Tickets = newDrawing(t, host) },
		"of a long list": func(h *notifytest.Host) {
			h.Purchases, h.EventDates, h.PurchaseIDs = crowd{host, 250}, crowd{host, 250}, nil
		},
		"of a list that is longer than the kit reads": func(h *notifytest.Host) {
			h.Purchases, h.EventDates, h.PurchaseIDs = crowd{host, 12_000}, crowd{host, 12_000}, nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			config := host.check()
			change(&config)
			require.NoError(t, notifytest.Check(t.Context(), config))
		})
	}
}

// wrapping says what it was looking for.
type wrapping struct{ *memory }

func (w wrapping) User(ctx context.Context, tenantCode, userID string) (notify.User, error) {
	user, err := w.memory.User(ctx, tenantCode, userID)
	if err != nil {
		err = fmt.Errorf("members: %q: %w", userID, err)
	}
	return user, err
}

// empty has no tickets, and no list, of what is not there.
type empty struct{ *memory }

func (e empty) Tickets(ctx context.Context, tenantCode, purchaseID string) (notify.PurchaseTickets, error) {
	tickets, err := e.memory.Tickets(ctx, tenantCode, purchaseID)
	if errors.Is(err, notify.ErrNotFound) {
		err = nil
	}
	return tickets, err
}

func (e empty) PurchaseIDs(ctx context.Context, tenantCode, eventDateID, after string) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		for id, err := range e.memory.PurchaseIDs(ctx, tenantCode, eventDateID, after) {
			if err != nil || !yield(id, nil) {
				return
			}
		}
	}
}

// drawing gives its tickets as a document, which is never the one before.
type drawing struct {
	*memory
	documents [2][]byte
	drawn     atomic.Int64
}

func newDrawing(t *testing.T, host *memory) *drawing {
	t.Helper()
	d := &drawing{memory: host}
	for i := range d.documents {
		var err error
		d.documents[i], err = ticketpdf.Draw(ticketpdf.Document{
			Title: strconv.Itoa(i), Brand: ticketpdf.Brand{Name: "Acme", Color: "#000000", OnColor: "#ffffff"},
			Pages: []ticketpdf.Page{{Heading: "Noche de candombe", Code: "BZN-0001"}},
		})
		require.NoError(t, err)
	}
	require.NotEqual(t, d.documents[0], d.documents[1])
	return d
}

func (d *drawing) Tickets(ctx context.Context, tenantCode, purchaseID string) (notify.PurchaseTickets, error) {
	_, err := d.memory.Tickets(ctx, tenantCode, purchaseID)
	if err != nil {
		return notify.PurchaseTickets{}, err
	}
	return notify.PurchaseTickets{PDFs: [][]byte{d.documents[d.drawn.Add(1)%2]}}, nil
}

// A crowd has sold many purchases for the date, whose ids are numbers.
type crowd struct {
	*memory
	sold int
}

func (c crowd) Purchase(ctx context.Context, tenantCode, purchaseID string) (notify.Purchase, error) {
	if _, err := strconv.Atoi(purchaseID); err == nil && tenantCode == "acme" && len(purchaseID) == 5 {
		purchaseID = "p1"
	}
	return c.memory.Purchase(ctx, tenantCode, purchaseID)
}

func (c crowd) PurchaseIDs(_ context.Context, tenantCode, eventDateID, after string) iter.Seq2[string, error] {
	return notify.Paged(after, func(after string) ([]string, error) {
		if _, err := find(c.dates, [2]string{tenantCode, eventDateID}); err != nil {
			return nil, err
		}
		last, _ := strconv.Atoi(after)
		var page []string
		for n := last + 1; n <= min(c.sold, last+100); n++ {
			page = append(page, fmt.Sprintf("%05d", n))
		}
		return page, nil
	})
}
