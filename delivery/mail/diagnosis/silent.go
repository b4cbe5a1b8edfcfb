package diagnosis

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"os"
	"syscall"

	"github.com/buzon-go/buzon/delivery/mail"
)

// withoutReply returns the cause of a failure on which the server said nothing.
// Errors of the network are believed only of the phases that use it: others
// hold errors of the host's database as well.
func withoutReply(failure *mail.SendError) Cause {
	if errors.Is(failure.Err, context.Canceled) {
		return Cancelled
	}
	switch failure.Phase {
	case mail.PhaseCompose:
		return byCompose(failure)
	case mail.PhaseDial:
		return byDial(failure.Err)
	case mail.PhaseTLS:
		return byHandshake(failure)
	case mail.PhaseGreeting:
		// One that waits for the client to speak first speaks TLS, or HTTP.
		if isTimeout(failure.Err) {
			return NotAMailServer
		}
	case mail.PhaseBody:
		// The error may be commit's, with a deadline of its own.
		if errors.Is(failure.Err, context.DeadlineExceeded) {
			return Cancelled
		}
	}
	if cause, ok := byConnection(failure.Err); ok {
		return cause
	}
	return byPhase(failure)
}

func byCompose(failure *mail.SendError) Cause {
	if failure.Temporary {
		return Other // the host could not look the integration up
	}
	switch failure.Reach {
	case mail.ReachIntegration:
		return IntegrationInvalid
	case mail.ReachSender:
		return SenderNotAllowed
	case mail.ReachRecipient:
		return RecipientRefused
	case mail.ReachMessage:
		return MessageInvalid
	}
	return Other
}

func byDial(err error) Cause {
	_, isResolution := errors.AsType[*net.DNSError](err)
	_, isNetwork := errors.AsType[*net.OpError](err)
	switch {
	case isResolution:
		return HostNotFound
	case isTimeout(err):
		return Timeout
	case errors.Is(err, syscall.ECONNREFUSED):
		return ConnectionRefused
	case errors.Is(err, syscall.ECONNRESET): // accepted, and cut off at once
		return ServerClosed
	case errors.Is(err, syscall.EHOSTUNREACH), errors.Is(err, syscall.ENETUNREACH), isNetwork:
		return Unreachable
	}
	return Other
}

func byHandshake(failure *mail.SendError) Cause {
	if cause, ok := byCertificate(failure.Err); ok {
		return cause
	}
	if _, ok := errors.AsType[tls.RecordHeaderError](failure.Err); ok {
		return NotAMailServer // at least not one that speaks TLS at once
	}
	if cause, ok := byConnection(failure.Err); ok {
		return cause
	}
	if failure.Reach == mail.ReachIntegration {
		return EncryptionMissing
	}
	return Other
}

func byCertificate(err error) (Cause, bool) {
	if _, ok := errors.AsType[x509.HostnameError](err); ok {
		return CertificateName, true
	}
	if invalid, ok := errors.AsType[x509.CertificateInvalidError](err); ok && invalid.Reason == x509.Expired {
		return CertificateExpired, true
	}
	_, isUnverified := errors.AsType[*tls.CertificateVerificationError](err)
	_, isUnknown := errors.AsType[x509.UnknownAuthorityError](err)
	_, isInvalid := errors.AsType[x509.CertificateInvalidError](err)
	return CertificateUntrusted, isUnverified || isUnknown || isInvalid
}

// byConnection tells by what became of a connection, and reports whether
// anything did.
func byConnection(err error) (Cause, bool) {
	if isTimeout(err) {
		return Timeout, true
	}
	for _, end := range []error{io.EOF, io.ErrUnexpectedEOF, net.ErrClosed} {
		if errors.Is(err, end) {
			return ServerClosed, true
		}
	}
	if _, ok := errors.AsType[*os.SyscallError](err); ok {
		return ServerClosed, true
	}
	// What is left is the peer's alert (RFC 8446 section 6), which crypto/tls
	// returns as an operation that failed.
	_, isAlert := errors.AsType[*net.OpError](err)
	return EncryptionFailed, isAlert
}

// byPhase tells what is left to have gone wrong at a phase.
func byPhase(failure *mail.SendError) Cause {
	switch failure.Phase {
	case mail.PhaseGreeting, mail.PhaseHello:
		return NotAMailServer
	case mail.PhaseAuth:
		if failure.Reach == mail.ReachIntegration {
			return LoginUnavailable
		}
	case mail.PhaseMail:
		return unsuitable(failure)
	case mail.PhaseBody:
		return Cancelled // commit said no
	}
	return Other
}

// unsuitable tells why a message was not even offered to a server that had said
// what it takes: its SIZE (RFC 1870), and no SMTPUTF8 (RFC 6531).
func unsuitable(failure *mail.SendError) Cause {
	if failure.Temporary {
		return Other
	}
	switch failure.Reach {
	case mail.ReachMessage:
		return TooLarge
	case mail.ReachSender:
		return SenderNotAllowed
	case mail.ReachRecipient:
		return RecipientRefused
	}
	return Other
}

func isTimeout(err error) bool {
	slow, ok := errors.AsType[net.Error](err)
	return ok && slow.Timeout()
}
