// Package preview shows every e-mail of package notify as its readers would get
// it, in every language and in the identity of several brands: the HTML at the
// width of a telephone or a desktop, in light or dark colours, with or without
// images; the plain text, the source and the attached files. It sends nothing.
//
// Its pages are in Spanish, need no script, and link to each other by relative
// addresses, so that a host can mount them wherever it likes:
//
//	mux.Handle("/vista-previa/", http.StripPrefix("/vista-previa", handler))
//
// They ask nobody who they are, and show faults of templates in full: they are
// for those who work on a host, not for the world.
package preview
