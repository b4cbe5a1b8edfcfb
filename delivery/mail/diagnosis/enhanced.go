package diagnosis

import "strings"

// enhancedCauses are the enhanced status codes that say enough by themselves.
// X stands for either class, 4 or 5. RFC 3463 and the registry that RFC 5248
// began have most; the details from 50 on are Microsoft 365's
// (learn.microsoft.com, "Email non-delivery reports and SMTP errors in Exchange
// Online").
var enhancedCauses = map[string]Cause{
	"X.1.1": RecipientRefused, "X.1.2": RecipientRefused, "X.1.3": RecipientRefused, "X.1.4": RecipientRefused,
	"X.1.6": RecipientRefused, "X.1.10": RecipientRefused,
	"X.1.7": SenderNotAllowed, "X.1.8": SenderNotAllowed,
	"5.1.90": TooMany,

	"X.2.1": RecipientRefused, "X.2.4": RecipientRefused,
	"X.2.3": TooLarge,

	"X.3.4": TooLarge,

	"5.4.1": RecipientRefused, "5.4.4": RecipientRefused, "5.4.6": RecipientRefused, "5.4.14": RecipientRefused,
	"5.4.5": TooMany, // Gmail's daily limit

	"X.5.3": TooMany,

	"X.7.2": RecipientRefused, "X.7.17": RecipientRefused, "X.7.18": RecipientRefused, // RFC 7293
	"X.7.7": MessageRefused,
	"X.7.8": PasswordRefused, "X.7.12": PasswordRefused, "X.7.13": PasswordRefused,
	"X.7.10": EncryptionRequired, "X.7.11": EncryptionRequired,
	"X.7.16": TooLarge,
	// RFC 7372, RFC 7505, RFC 8617
	"X.7.20": SenderUnproven, "X.7.21": SenderUnproven, "X.7.22": SenderUnproven, "X.7.23": SenderUnproven,
	"X.7.24": SenderUnproven, "X.7.26": SenderUnproven, "X.7.29": SenderUnproven,
	"X.7.25": Blocked, // the name of the sending server's address
	"X.7.27": SenderNotAllowed,
	"X.7.28": TooMany,

	"X.7.54": RelayDenied, "X.7.64": RelayDenied,
	"X.7.57": LoginRequired,
	"X.7.60": SenderNotAllowed, "X.7.750": SenderNotAllowed,
	"X.7.124": RecipientRefused, "X.7.133": RecipientRefused, "X.7.134": RecipientRefused, // restricted to some senders
	"X.7.501": Blocked, "X.7.502": Blocked, "X.7.503": Blocked, "X.7.511": Blocked, "X.7.708": Blocked,
	"X.7.509": SenderUnproven, "X.7.515": SenderUnproven,
	"X.7.705": TooMany,
}

// byEnhanced reports whether an enhanced code says enough, and what.
func byEnhanced(enhanced string) (Cause, bool) {
	if cause, ok := enhancedCauses[enhanced]; ok {
		return cause, true
	}
	_, rest, _ := strings.Cut(enhanced, ".")
	cause, ok := enhancedCauses["X."+rest]
	return cause, ok
}
