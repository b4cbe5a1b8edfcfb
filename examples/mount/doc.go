// Package mount shows how the routes of the lotes stand under a prefix of an
// application that has a router already: chi, gin or echo. With http.ServeMux it
// is
//
//	mux.Handle("/api/", http.StripPrefix("/api", lotes))
//
// It is a module of its own, so that the library depends on none of these
// routers. The handler tells by itself which methods and addresses there are, and
// asks the host's authorisation for each request; the router only has to hand
// over everything under the prefix, whatever its method.
package mount
