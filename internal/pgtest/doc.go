// Package pgtest gives each test a fresh database on a real PostgreSQL server:
// migrated with [New], empty with [NewEmpty]. It does not isolate what a whole
// server shares, such as roles; a test that stops the server or changes its
// settings takes one of its own with [NewServer].
//
// # The server
//
// The first test of a process that asks starts a private server (see package
// postgres), without the writes that make data survive a power cut. [Main]
// stops it at the end; without Main it dies with the process all the same.
// Where [EnvDatabaseURL] is set, that server is used instead, by a role that
// may create databases. It keeps the templates, one for each version of the
// migrations, from one run to the next.
//
// # The databases
//
// A database is a copy of a template that holds the library's schema, buzon,
// as package migrations makes it: some ten milliseconds. It is dropped, and
// its pool closed, when the test ends. A pool's connection string leads to the
// database from elsewhere, such as a child process: see [URL] and [Connect].
package pgtest
