package notifytest

import (
	"context"
	"errors"

	"github.com/buzon-go/buzon/notify"
)

// checkPurchases checks Purchases and Tickets.
func (k *kit) checkPurchases(ctx context.Context) {
	if k.host.Purchases == nil {
		return
	}
	purchase, sold := k.purchases(k.host.PurchaseID).run(ctx)
	tickets, issued := k.tickets().run(ctx)
	if sold && issued {
		k.checkDocument(ctx, purchase, tickets)
	}
}

func (k *kit) purchases(id string) *lookup[notify.Purchase] {
	return &lookup[notify.Purchase]{
		kit: k, method: "Purchases.Purchase", finds: "the purchase", args: []string{k.host.TenantCode, id},
		ask: func(ctx context.Context, args []string) (notify.Purchase, error) {
			return k.host.Purchases.Purchase(ctx, args[0], args[1])
		},
		check: checkPurchase, differ: fieldsThatDiffer[notify.Purchase],
	}
}

func checkPurchase(purchase notify.Purchase) error {
	var cancelled error
	if purchase.Cancelled {
		cancelled = errors.New("Cancelled is true: nothing would be sent; give the kit a purchase that stands")
	}
	return errors.Join(purchase.Validate(), within("Buyer", checkUser(purchase.Buyer)), cancelled)
}

func (k *kit) tickets() *lookup[notify.PurchaseTickets] {
	return &lookup[notify.PurchaseTickets]{
		kit: k, method: "Tickets.Tickets", finds: "the tickets", args: []string{k.host.TenantCode, k.host.PurchaseID},
		ask: func(ctx context.Context, args []string) (notify.PurchaseTickets, error) {
			return k.host.Tickets.Tickets(ctx, args[0], args[1])
		},
		check: k.checkTickets, differ: ticketsThatDiffer, isNone: isNone,
	}
}

func (k *kit) checkTickets(tickets notify.PurchaseTickets) error {
	if _, without := k.host.Tickets.(notify.NoTickets); !without && isNone(tickets) {
		return errors.New("there are none; give the kit a purchase that has some, or notify.NoTickets: a confirmation without them is sent once, and never again with them")
	}
	return tickets.Validate()
}

func isNone(tickets notify.PurchaseTickets) bool {
	return len(tickets.Tickets) == 0 && len(tickets.PDFs) == 0
}

// ticketsThatDiffer takes no notice of what is in finished documents: one that
// is made anew each time tells the time of its making.
func ticketsThatDiffer(first, later notify.PurchaseTickets) string {
	if len(first.PDFs) == len(later.PDFs) {
		first.PDFs, later.PDFs = nil, nil
	}
	return fieldsThatDiffer(first, later)
}

// checkDocument makes the confirmation's attachment of what the host gives.
func (k *kit) checkDocument(ctx context.Context, purchase notify.Purchase, tickets notify.PurchaseTickets) {
	tenants, own := k.tenants(k.host.TenantCode), k.tickets()
	tenant, ok, err := tenants.get(ctx, manner{}, tenants.args)
	if !ok || err != nil || tenant.Validate() != nil {
		return // which the tenant's own check has told
	}
	if err := tryDocument(ctx, tenant, purchase, tickets); err != nil && ctx.Err() == nil {
		k.faultf("%s gives tickets that no PDF can be made of: %w: the confirmation would fail", own.name(manner{}, own.args), err)
	}
}
