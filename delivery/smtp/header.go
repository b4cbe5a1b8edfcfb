package smtp

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"mime"
	"strings"

	"github.com/emersion/go-message/textproto"
)

// Lengths of a line without its CRLF (RFC 5322 section 2.1.1).
const (
	preferredLine = 78
	maxLine       = 998
)

// A field is a header field. Its value is ASCII, encoded where it needs to be,
// and not folded; an address of SMTPUTF8 is the exception to the ASCII.
type field struct{ name, value string }

// fold returns the field with its CRLF, folded before spaces that the value
// has, so that unfolding (RFC 5322 section 2.2.3) gives the value back. A URL,
// as in List-Unsubscribe, is never cut. go-message would fold inside long
// words, which changes them.
func (f field) fold() ([]byte, error) {
	var folded bytes.Buffer
	folded.WriteString(f.name + ":")
	length := folded.Len()
	rest := " " + strings.TrimRight(f.value, " ")
	for first := true; rest != ""; first = false {
		word := nextWord(rest)
		rest = rest[len(word):]
		if !first && length+len(word) > preferredLine {
			folded.WriteString("\r\n")
			length = 0
		}
		folded.WriteString(word)
		if length += len(word); length > maxLine {
			return nil, fmt.Errorf("%s: a word is longer than a line may be", f.name)
		}
	}
	folded.WriteString("\r\n")
	return folded.Bytes(), nil
}

// nextWord returns the spaces that text begins with and the word after them.
func nextWord(text string) string {
	word := strings.TrimLeft(text, " ")
	if end := strings.IndexByte(word, ' '); end >= 0 {
		word = word[:end]
	}
	return text[:len(text)-len(strings.TrimLeft(text, " "))+len(word)]
}

func headerOf(fields []field) (textproto.Header, error) {
	var header textproto.Header
	for i := len(fields) - 1; i >= 0; i-- { // each goes before the ones that are there
		folded, err := fields[i].fold()
		if err != nil {
			return header, err
		}
		header.AddRaw(folded)
	}
	return header, nil
}

func writeFields(w io.Writer, fields []field) error {
	header, err := headerOf(fields)
	if err != nil {
		return err
	}
	return textproto.WriteHeader(w, header)
}

// encodeText returns text as an unstructured header value: as it is where that
// can be, and as encoded-words (RFC 2047) otherwise.
func encodeText(text string) string {
	if encoded := mime.QEncoding.Encode("utf-8", text); encoded != text {
		return encoded
	}
	// ASCII, then. It still must not be read as an encoded-word that it holds.
	if strings.Contains(text, "=?") {
		return encodeASCII(text)
	}
	return text
}

// encodeASCII writes every byte of text in hexadecimal, 20 to an encoded-word,
// which may have 75 characters (RFC 2047 section 2).
func encodeASCII(text string) string {
	var words []string
	for len(text) > 0 {
		part := text[:min(len(text), 20)]
		text = text[len(part):]
		word := "=?utf-8?q?"
		for i := range len(part) {
			word += fmt.Sprintf("=%02X", part[i])
		}
		words = append(words, word+"?=")
	}
	return strings.Join(words, " ")
}

// checkLines asserts the form of a composed message. Receivers disagree about
// what a bare CR or LF is, which smuggles messages (CVE-2023-51764), and
// relays break lines that are too long, which breaks signatures.
func checkLines(message []byte) error {
	for line := range bytes.Lines(message) {
		content, ended := bytes.CutSuffix(line, []byte("\r\n"))
		if !ended || bytes.ContainsAny(content, "\r\n") {
			return errors.New("a line does not end in CRLF")
		}
		if len(content) > maxLine {
			return fmt.Errorf("a line has %d bytes", len(content))
		}
	}
	return nil
}
