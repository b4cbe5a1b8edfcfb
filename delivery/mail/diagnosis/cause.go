package diagnosis

// A Cause is the kind of a result. Two failures have different causes where a
// person would do different things about them. The values are stable, for
// statistics, panels and tests.
type Cause string

// The causes. Their texts say what to do; the comments here say what is meant.
const (
	Accepted Cause = "accepted" // the server took the message

	// On the way to the server.

	HostNotFound      Cause = "host_not_found"     // no address for the server's name
	ConnectionRefused Cause = "connection_refused" // nobody listens on the port
	Unreachable       Cause = "unreachable"        // no way through the network
	Timeout           Cause = "timeout"            // no answer in time
	NotAMailServer    Cause = "not_a_mail_server"  // an answer, or a silence, that is no SMTP: another port or encryption
	ServerClosed      Cause = "server_closed"      // turned away at the greeting, or cut off

	// Encryption.

	EncryptionMissing    Cause = "encryption_missing"    // no STARTTLS, or none that can be used
	EncryptionFailed     Cause = "encryption_failed"     // the server broke the handshake off
	EncryptionRequired   Cause = "encryption_required"   // the server wants an encrypted connection
	CertificateExpired   Cause = "certificate_expired"   // or not valid yet
	CertificateName      Cause = "certificate_name"      // made out to another name
	CertificateUntrusted Cause = "certificate_untrusted" // of an unknown authority, or not fit for a server

	// Logging in.

	PasswordRefused  Cause = "password_refused"
	LoginUnavailable Cause = "login_unavailable" // no encryption for the password, or no way to log in that both sides know
	LoginRequired    Cause = "login_required"    // the server wants a login, and there was none

	// The sender.

	SenderNotAllowed Cause = "sender_not_allowed" // the address is wrong, not verified, or somebody else's
	SenderUnproven   Cause = "sender_unproven"    // SPF, DKIM or DMARC
	RelayDenied      Cause = "relay_denied"
	Blocked          Cause = "blocked"  // block lists and reputation
	TooMany          Cause = "too_many" // limits of messages and connections

	// The recipient and the message.

	RecipientRefused Cause = "recipient_refused" // the address does not exist, takes no mail, or is wrong
	MailboxFull      Cause = "mailbox_full"
	MessageRefused   Cause = "message_refused" // content, and rules that the server does not name
	MessageInvalid   Cause = "message_invalid" // could not be composed
	TooLarge         Cause = "too_large"

	ServerBusy         Cause = "server_busy"         // not now: overload, maintenance, greylisting
	OutcomeUnknown     Cause = "outcome_unknown"     // sent, and never confirmed (RFC 1047)
	Cancelled          Cause = "cancelled"           // given up on this side before the message was complete
	IntegrationInvalid Cause = "integration_invalid" // the tenant's settings are missing or wrong
	Other              Cause = "other"
)
