// Package host is the business of the sample server: tenants, users and
// attempts to recover a password, in tables of its own. It stands for what a
// real host application has anyway, and shows the two places where that meets
// the library:
//
//   - It publishes events inside its own transactions ([Host.SignUp],
//     [Host.RequestReset]).
//   - It answers when the library loads what an e-mail says: [Host] implements
//     notify.Users, notify.Tenants, notify.PasswordResets and
//     smtp.Integrations.
//
// It has no passwords, no sessions and no authorisation.
package host
