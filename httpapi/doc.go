// Package httpapi serves the e-mails of lotes over HTTP: it starts, shows,
// follows, exports and cancels them, as a plain http.Handler. It cannot be built
// without the host's authorisation, and it decides nothing that package
// billingmail does not.
//
//	POST /mod-membresia/auditoria/lotes/{id}/reenviar-emails    202, Location: …/emails/progreso
//	GET  /mod-membresia/auditoria/lotes/{id}/emails             a page of entries
//	GET  /mod-membresia/auditoria/lotes/{id}/emails.csv         all of them, streamed
//	GET  /mod-membresia/auditoria/lotes/{id}/emails/progreso    JSON, or server-sent events when asked for
//	POST /mod-membresia/auditoria/lotes/{id}/emails/cancelar    202
//	GET  /mod-membresia/openapi.json                            the description of all this, for everybody
//
//	GET  /mod-membresia/panel/{schema}/lotes/{id}               the panel: a page for people, with its own actions
//
// The header X-Schema names the branch schema (sucursal); in the panel, whose
// links and event streams can send no header, the path does, and the host's
// authorisation may look at a session of its own. In this order: its form
// (400), the host's authorisation (401, 403), the rest of the request (400, 413),
// then 404, 422 and 409. So nobody learns whether a schema exists before being
// authorised for it.
//
// Errors are application/problem+json (RFC 9457), with a code for programs and a
// detail in Spanish for people. What a stranger has no business to know is in
// the log, under the request's id, which X-Request-Id carries both ways.
package httpapi
