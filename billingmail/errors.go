package billingmail

import (
	"errors"
	"fmt"
)

// SmtpDeliveryAllFailed is what the handler of a lote returns when every
// delivery of a run has failed (contract, section 5). The job is then retried
// while it has retries left, and failed afterwards.
type SmtpDeliveryAllFailed struct {
	LoteID int64
	Failed int   // how many
	Last   error // the last one's
}

// Error implements error.
func (e *SmtpDeliveryAllFailed) Error() string {
	return fmt.Sprintf("billingmail: lote %d: all %d deliveries failed; the last one: %v", e.LoteID, e.Failed, e.Last)
}

// Unwrap returns the last delivery's error.
func (e *SmtpDeliveryAllFailed) Unwrap() error { return e.Last }

// SmtpDeliveryPartlyFailed is what it returns when some deliveries have failed
// in a way that can pass by itself: the job is retried for these alone.
type SmtpDeliveryPartlyFailed struct {
	LoteID       int64
	Sent, Failed int
	Passing      int   // how many of the failed are tried again
	Last         error // the last one's
}

// Error implements error.
func (e *SmtpDeliveryPartlyFailed) Error() string {
	return fmt.Sprintf("billingmail: lote %d: %d of %d deliveries failed, %d of them can pass; the last one: %v",
		e.LoteID, e.Failed, e.Sent+e.Failed, e.Passing, e.Last)
}

// Unwrap returns the last delivery's error.
func (e *SmtpDeliveryPartlyFailed) Unwrap() error { return e.Last }

// ErrNotActive says that the lote has no active e-mail job.
var ErrNotActive = errors.New("the lote has no active e-mail job")

// An ActiveError says that an e-mail job of the lote is active.
type ActiveError struct {
	LoteID int64
	JobID  int64 // the active one
}

// Error implements error.
func (e *ActiveError) Error() string {
	return fmt.Sprintf("billingmail: lote %d: e-mail job %d is active", e.LoteID, e.JobID)
}

// A SelectionError says which of the asked-for members are not in the lote.
type SelectionError struct {
	LoteID    int64
	SocioIDs  []int64 // the first hundred
	HowMany   int
	Selection int // how many were asked for
}

// Error implements error.
func (e *SelectionError) Error() string {
	return fmt.Sprintf("billingmail: lote %d: %d of the %d members asked for are not in it: %v", e.LoteID, e.HowMany, e.Selection, e.SocioIDs)
}

// ErrEmptySelection says that nobody was selected, which never means everybody.
var ErrEmptySelection = errors.New("the selection of members is empty")
