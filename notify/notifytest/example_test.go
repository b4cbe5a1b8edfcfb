package notifytest_test

import (
	"context"
	"fmt"

	"github.com/buzon-go/buzon/notify/notifytest"
)

// A host's own test is these lines, with t.Context() and t.Error(err).
func ExampleCheck() {
	host := newMemory() // or one on a database of the test's own
	err := notifytest.Check(context.Background(), notifytest.Host{
		Tenants: host, TenantCode: "acme", OtherTenantCode: "globex",
		Users: host, UserID: "7",
		PasswordResets: host, AttemptID: "a1",
		Purchases: host, PurchaseID: "p1", Tickets: host,
		EventDates: host, EventDateID: "d1", PurchaseIDs: []string{"p1", "p2", "p3", "p4"},
	})
	fmt.Println("faults:", err)
	// Output: faults: <nil>
}

// What is wrong is said with what was asked.
func ExampleCheck_faults() {
	host := newMemory()
	err := notifytest.Check(context.Background(), notifytest.Host{
		Tenants: host, TenantCode: "acme",
		Users: host, UserID: "8",
	})
	fmt.Println(err)
	// Output: notifytest: Users.User("acme", "8") gives the error "not found"; want the user, which is there by what the Host says
}
