// Package host is the business of the sample server: tenants, users, attempts
// to recover a password, events and purchases with tickets, in tables of its
// own. It stands for what a real host application has anyway, and shows the two
// places where that meets the library:
//
//   - It publishes events inside its own transactions ([Host.SignUp],
//     [Host.RequestReset], [Host.Pay], [Host.Reschedule], [Host.Suspend]).
//   - It answers when the library loads what an e-mail says: [Host] implements
//     notify.Tenants, notify.Users, notify.PasswordResets, notify.Purchases,
//     notify.Tickets, notify.EventDates and smtp.Integrations.
//
// It has no passwords, no sessions and no authorisation, and nobody's money.
package host
