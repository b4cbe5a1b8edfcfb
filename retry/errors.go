package retry

import (
	"errors"
	"fmt"
	"time"
)

// Permanent marks err as one that no retry can mend: the job fails at once,
// whatever its strategy says. The result unwraps to err. Permanent(nil) is nil.
func Permanent(err error) error {
	if err == nil {
		return nil
	}
	return &permanentError{err}
}

// IsPermanent reports whether err, or anything that it wraps, was marked by
// [Permanent].
func IsPermanent(err error) bool {
	var p *permanentError
	return errors.As(err, &p)
}

type permanentError struct{ err error }

func (e *permanentError) Error() string { return e.err.Error() }
func (e *permanentError) Unwrap() error { return e.err }

// After marks err as "not now": the job comes back when delay has passed, and
// spends no retry. It is for waiting on something outside, such as somebody
// else's claim; what went wrong itself should spend a retry. A negative delay
// counts as zero. The result unwraps to err; After(d, nil) is nil.
func After(delay time.Duration, err error) error {
	if err == nil {
		return nil
	}
	return &afterError{max(delay, 0), err}
}

// AfterDelay returns the delay of the outermost [After] in err's chain, and
// whether there is one.
func AfterDelay(err error) (time.Duration, bool) {
	var a *afterError
	if errors.As(err, &a) {
		return a.delay, true
	}
	return 0, false
}

type afterError struct {
	delay time.Duration
	err   error
}

func (e *afterError) Error() string { return fmt.Sprintf("%v (again in %s)", e.err, e.delay) }
func (e *afterError) Unwrap() error { return e.err }
