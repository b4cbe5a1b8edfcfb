// Package notifytest checks a host's implementation of the interfaces of package
// notify, in the host's own tests, as testing/fstest does for file systems. It
// does not check what the e-mails look like, and it sends none.
//
//	func TestHost(t *testing.T) {
//		host := newHost(t) // on a database of the test's own
//		err := notifytest.Check(t.Context(), notifytest.Host{
//			Tenants: host, TenantCode: "acme", OtherTenantCode: "globex",
//			Users: host, UserID: "7",
//			PasswordResets: host, AttemptID: "a1",
//			Purchases: host, PurchaseID: "p1", Tickets: host,
//			EventDates: host, EventDateID: "d1", PurchaseIDs: []string{"p1", "p2", "p3"},
//		})
//		if err != nil {
//			t.Error(err)
//		}
//	}
//
// Run it with -race too: everything is also asked from many goroutines at once.
//
// # What it needs
//
// A tenant, and of that tenant, for each interface that is given:
//
//   - a user with an address,
//   - an attempt to recover a password that is pending and has not expired,
//   - a purchase that stands, whose buyer has an address; with tickets, unless
//     Tickets is notify.NoTickets,
//   - a date of an event with at least three purchases.
//
// A second tenant, in which nothing has the ids of the first one's, lets it see
// whether tenants are kept apart. Nothing of this may change while it runs.
//
// It only reads, and asks for what is not there by ids that are hostile, but
// harm nothing that is read by a query with parameters.
//
// # What it asks for
//
//	what is there               is valid, and the same each time, also when it is asked for from
//	                            many goroutines at once
//	what is not there, or is    notify.ErrNotFound, wrapped or not, whatever the id holds; a list or
//	another tenant's            tickets may be empty instead
//	a context that has ended    an error that is retried, or the right answer all the same
//	a list                      each id once, in an order that stays; after each of its ids, the
//	                            rest; it can be left anywhere, and gives back what it held; where
//	                            it is cut short by its context, it ends with an error
//	a call                      ends within [Host.Limit], and does not panic
//
// An id that cannot be part of a business key is of nothing that an e-mail is
// sent for, so a host whose database refuses some texts, such as those with a
// NUL, can begin with
//
//	if mail.CheckKeyPart(id) != nil {
//		return notify.User{}, notify.ErrNotFound
//	}
//
// and one whose ids are numbers or UUIDs says the same of what is none.
//
// What it cannot see: whether data is right, whether a list stays in its order
// while rows are added, and whether a query that has begun heeds its context.
package notifytest
