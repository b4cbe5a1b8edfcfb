package notify

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/buzon-go/buzon/delivery/mail/view"
)

// Purchases finds purchases. The host implements it; the context is as that of
// [Users].
type Purchases interface {
	// Purchase returns a purchase as it is now, or [ErrNotFound].
	Purchase(ctx context.Context, tenantCode, purchaseID string) (Purchase, error)
}

// A Purchase is what somebody has bought.
type Purchase struct {
	// Number is what the buyer knows the purchase by. Required.
	Number string
	// Buyer is who gets the e-mails.
	Buyer User
	// Items are what was bought, in the order to show them. May be empty.
	Items []PurchaseItem
	// Total is what was paid. A zero Money is not shown.
	Total view.Money
	// PaidAt is when. Zero is not shown.
	PaidAt time.Time
	// URL is where the buyer sees the purchase, http or https. Empty means
	// nowhere.
	URL string
	// Cancelled says that the purchase was annulled or refunded since:
	// nothing is sent, and the job says why.
	Cancelled bool
}

// A PurchaseItem is a line of a purchase.
type PurchaseItem struct {
	Description string
	Quantity    int        // below 1 is not shown
	Amount      view.Money // for all of the quantity; a zero Money is not shown
}

// Validate returns what is wrong with the purchase, naming the fields, or nil.
// It does not look at the buyer's address, without which nothing is sent.
func (p Purchase) Validate() error {
	faults := []error{
		checkText("Number", p.Number),
		view.CheckURL("URL", p.URL),
		within("Total", p.Total.Validate()),
	}
	for i, item := range p.Items {
		field := fmt.Sprintf("Items[%d].", i)
		faults = append(faults, checkText(field+"Description", item.Description), within(field+"Amount", item.Amount.Validate()))
	}
	return errors.Join(faults...)
}

func checkText(field, text string) error {
	if view.OneLine(text, view.MaxName) == "" {
		return fmt.Errorf("%s is empty", field)
	}
	return nil
}

// EventDates finds the dates of events. The host implements it; the context is
// as that of [Users].
type EventDates interface {
	// EventDate returns a date as it is now, or [ErrNotFound].
	EventDate(ctx context.Context, tenantCode, eventDateID string) (EventDate, error)

	// PurchaseIDs lists the purchases to write to when the date was suspended
	// or rescheduled, in an order of the host's that does not change, each
	// once, starting with the one that follows after, also where that one has
	// gone meanwhile; an empty after means from the beginning. Of a rescheduled date they are those that stood on
	// it when it was rescheduled, also where the host has moved them since.
	//
	// It is listed a thousand at a time, each time anew with the last id that
	// was taken, so that a list of any length is never held whole and can be
	// cut anywhere. An error ends the list, and the job goes on from there at
	// its next attempt. [Paged] makes such a list of a query with a LIMIT.
	PurchaseIDs(ctx context.Context, tenantCode, eventDateID, after string) iter.Seq2[string, error]
}

// An EventDate is one date of an event.
type EventDate struct {
	// Name is the event's. Required.
	Name string
	// StartsAt is when it begins. Required.
	StartsAt time.Time
	// TimeZone is that of the place, which times are told in. Nil means the
	// tenant's.
	TimeZone *time.Location
	// Venue and Address are where. Each may be empty.
	Venue   string
	Address string
	// Notice is what the organiser adds to the e-mail on a suspended or
	// rescheduled date, such as how money is given back; it may have several
	// lines. May be empty.
	Notice string
}

// Validate returns what is wrong with the date, naming the fields, or nil.
func (d EventDate) Validate() error {
	err := checkText("Name", d.Name)
	if d.StartsAt.IsZero() {
		err = errors.Join(err, errors.New("StartsAt is zero"))
	}
	return err
}

// Paged makes the list of [EventDates] of a function that reads one page: the
// ids that follow after, in order; an empty page is the end. While a page is
// being used nothing of the host is held, no connection and no rows.
func Paged(after string, page func(after string) ([]string, error)) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		for {
			ids, err := page(after)
			if err != nil {
				yield("", err)
				return
			}
			if len(ids) == 0 {
				return
			}
			for _, id := range ids {
				if !yield(id, nil) {
					return
				}
			}
			after = ids[len(ids)-1]
		}
	}
}
