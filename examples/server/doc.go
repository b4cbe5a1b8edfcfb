// Server is a sample host of Buzón: users sign up, and a second later their
// welcome can be read; they recover a password, buy tickets that arrive as a
// PDF, and hear when a date is moved or suspended. It needs nothing but Go, and
// is not for production: it asks nobody who they are.
//
//	go run ./examples/server
//
// and then the address that it prints. Without DATABASE_URL it starts a private
// PostgreSQL, whose data it keeps; without SMTP_HOST it starts an SMTP server
// that keeps what it takes, for the page /inbox. The flag -h tells the rest.
//
// What a host writes to use the library stands in wire.go, and in
// internal/host, which publishes events in its own transactions.
package main
