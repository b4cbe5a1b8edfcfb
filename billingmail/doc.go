// Package billingmail sends the billing e-mails of a lote, a batch in which many
// members (socios) of a branch (sucursal) are billed, and records each of them:
// a resend is started in one transaction, can be cut anywhere, and goes on with
// what is left. It does not bill, and it has no HTTP routes (package httpapi
// has).
//
// # The flow
//
//	Service.Resend ──(one transaction: entries pendiente + job)──▶ runner ──▶ EmailNotificationLoteJobHandler ──▶ mail.Sender
//	Service.List, Progress ◀── membresia_facturacion_email_detalle (branch schema) ◀── a result for each entry
//
// A job of type email_notification_lote reads the lote once, into a file without
// a name, sends over several connections, and commits each result within some
// tens of milliseconds: enviado, error with its reason in words, or omitido. A
// retry, and every run that follows a crash, leaves out those who have the
// e-mail. A worker that dies can have sent what it had not recorded yet, at most
// as many e-mails as it had connections and results under way: these members
// get a second copy, with the same Message-ID.
//
//	every delivery of the run failed          *SmtpDeliveryAllFailed: retried, then failed
//	some failed, and some of those can pass   *SmtpDeliveryPartlyFailed: retried for these alone
//	nothing left that can be retried          completed when anything was sent, failed otherwise
//	an unknown outcome                        error, "resultado desconocido"; not tried again by itself
//	the host stops                            released at once, without spending a retry
//	cancelled                                 what is under way ends, the rest is omitido with who did it
//
// # Schemas
//
// A branch is a schema. Its name is checked, looked up in the catalogue, and
// quoted; the search path, for what the host supplies, is set for one transaction
// only. The library's own statements name the schema besides. The detail table
// counts as present only in the first schema of the path. Where it is missing,
// the lote is sent without a record, and a warning is logged; where it lacks the
// columns of the second migration, failures are not told apart, and a run is
// retried only when everything failed.
//
// # Where lotes are read
//
// [AuditoriaReader] reads membresia_facturacion_lote_auditoria and documents the
// JSON that it expects; a host with another table implements [LoteReader].
package billingmail
