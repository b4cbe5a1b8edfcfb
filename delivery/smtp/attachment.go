package smtp

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"mime"
	"path"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"github.com/buzon-go/buzon/delivery/mail"
)

// attachmentEntity is always base64, which no relay has a reason to change.
func attachmentEntity(a mail.Attachment) entity {
	return entity{
		fields: []field{
			{"Content-Type", contentType(a)},
			{"Content-Transfer-Encoding", "base64"},
			{"Content-Disposition", disposition(a.Name)},
		},
		write: func(w io.Writer) error { return writeBase64(w, a.Content) },
	}
}

const defaultContentType = "application/octet-stream"

// contentType returns the Content-Type with the name in ASCII, for readers that
// look for it there. checkAttachment has seen to it that it can be parsed.
func contentType(a mail.Attachment) string {
	mediaType, parameters, err := mime.ParseMediaType(cmp.Or(a.ContentType, defaultContentType))
	if err != nil {
		mediaType, parameters = defaultContentType, nil
	}
	value := mediaType
	if formatted := mime.FormatMediaType(mediaType, parameters); formatted != "" {
		value = formatted
	}
	if _, named := parameters["name"]; named {
		return value
	}
	return fmt.Sprintf(`%s; name="%s"`, value, asciiName(a.Name))
}

// disposition returns the Content-Disposition with the name in ASCII, and as
// RFC 2231 has it where that is not the whole name. An encoded-word in a
// parameter, as go-message writes it, is against RFC 2047 section 5, and
// Outlook shows it as it is.
func disposition(name string) string {
	ascii := asciiName(name)
	value := fmt.Sprintf(`attachment; filename="%s"`, ascii)
	if ascii != name {
		value += "; filename*=UTF-8''" + percentEncode(name)
	}
	return value
}

// asciiName returns the nearest name in ASCII: accents are dropped, and what is
// left, with what a quoted-string would need to escape, becomes "_".
func asciiName(name string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case unicode.Is(unicode.Mn, r):
			return -1
		case r >= ' ' && r <= '~' && r != '"' && r != '\\':
			return r
		}
		return '_'
	}, norm.NFD.String(name))
}

// percentEncode encodes all but attribute-char (RFC 2231 section 7).
func percentEncode(text string) string {
	var encoded strings.Builder
	for _, b := range []byte(text) {
		if b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= '0' && b <= '9' || strings.IndexByte("-._~", b) >= 0 {
			encoded.WriteByte(b)
		} else {
			fmt.Fprintf(&encoded, "%%%02X", b)
		}
	}
	return encoded.String()
}

// maxName keeps the encoded name, three characters for a byte, within a line.
const maxName = 255

func checkAttachment(a mail.Attachment) error {
	if a.Name == "" || a.Name != path.Base(a.Name) {
		return errors.New("name: must be a file name without a path")
	}
	if len(a.Name) > maxName {
		return fmt.Errorf("name: has more than %d bytes", maxName)
	}
	if err := checkLine(a.Name); err != nil {
		return fmt.Errorf("name: %w", err)
	}
	mediaType, _, err := mime.ParseMediaType(cmp.Or(a.ContentType, defaultContentType))
	if err != nil || !strings.Contains(mediaType, "/") || !isASCII(a.ContentType) || checkLine(a.ContentType) != nil {
		return errors.New("content type: cannot be parsed")
	}
	if strings.HasPrefix(mediaType, "multipart/") || strings.HasPrefix(mediaType, "message/") {
		// RFC 2045 section 6.4: they must not be encoded in base64.
		return errors.New("content type: multipart and message cannot be attached")
	}
	return nil
}
