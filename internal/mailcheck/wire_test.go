package mailcheck

import (
	netmail "net/mail"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/buzon-go/buzon/delivery/mail"
	"github.com/buzon-go/buzon/delivery/smtp"
)

// plain is a message that has no fault.
const plain = "Date: Wed, 04 Mar 2026 05:06:07 -0300\r\n" +
	"From: =?utf-8?q?Club_Atl=C3=A9tico?= <club@xn--espaa-rta.example>\r\n" +
	"To: \"Ana\" <ana@example.net>\r\n" +
	"Subject: =?utf-8?q?Su_confirmaci=C3=B3n?=\r\n" +
	"Message-ID: <42@xn--espaa-rta.example>\r\n" +
	"MIME-Version: 1.0\r\n" +
	"Content-Type: text/plain; charset=utf-8\r\n" +
	"Content-Transfer-Encoding: quoted-printable\r\n" +
	"\r\n" +
	"Adi=C3=B3s\r\n"

// nested has a text, an HTML text and a file.
const nested = "Date: Wed, 04 Mar 2026 05:06:07 -0300\r\n" +
	"From: <club@example.org>\r\n" +
	"To: <ana@example.net>\r\n" +
	"Subject: x\r\n" +
	"Message-ID: <42@example.org>\r\n" +
	"MIME-Version: 1.0\r\n" +
	"Content-Type: multipart/mixed; boundary=\"outer\"\r\n" +
	"\r\n" +
	"--outer\r\n" +
	"Content-Type: multipart/alternative; boundary=inner\r\n" +
	"\r\n" +
	"--inner\r\n" +
	"Content-Type: text/plain; charset=us-ascii\r\n" +
	"\r\n" +
	"hello\r\n" +
	"--inner\r\n" +
	"Content-Type: text/html; charset=utf-8\r\n" +
	"\r\n" +
	"<p>hello</p>\r\n" +
	"--inner--\r\n" +
	"--outer\r\n" +
	"Content-Type: text/plain; charset=iso-8859-1\r\n" +
	"Content-Transfer-Encoding: base64\r\n" +
	"Content-Disposition: attachment; filename*=UTF-8''a%C3%B1o.txt\r\n" +
	"\r\n" +
	"8Q==\r\n" +
	"--outer--\r\n"

func TestWireAcceptsWhatSMTPComposes(t *testing.T) {
	t.Parallel()
	m := &mail.Message{
		From:      netmail.Address{Name: "Club Atlético", Address: "club@españa.example"},
		To:        netmail.Address{Name: "Ana", Address: "ana@example.net"},
		ReplyTo:   &netmail.Address{Address: "ayuda@example.org"},
		Subject:   "Confirmación" + strings.Repeat(" confirmación", 20),
		Text:      "Adiós\n.\n" + strings.Repeat("año ", 400) + "\n",
		HTML:      "<p>Adiós</p>",
		MessageID: "42@españa.example",
		Date:      time.Date(2026, 3, 4, 5, 6, 7, 0, time.FixedZone("", -3*3600)),
		Attachments: []mail.Attachment{{
			Name: strings.Repeat("Facturación ", 9) + ".csv", ContentType: "text/csv", Content: []byte("a;\xf3\n"),
		}},
	}
	raw, err := smtp.Compose(m)
	require.NoError(t, err)
	p := Wire(t, raw)
	assert.Equal(t, m.Subject, p.Subject)
	assert.Equal(t, "Club Atlético", p.From.Name)
	assert.Equal(t, "club@xn--espaa-rta.example", p.From.Address)
	assert.Equal(t, []*netmail.Address{&m.To}, p.To)
	assert.Equal(t, []*netmail.Address{m.ReplyTo}, p.ReplyTo)
	assert.Equal(t, "42@xn--espaa-rta.example", p.MessageID)
	assert.True(t, m.Date.Equal(p.Date))
	assert.Equal(t, strings.ReplaceAll(m.Text, "\n", "\r\n"), p.Text)
	assert.Equal(t, m.HTML+"\r\n", p.HTML)
	require.Len(t, p.Attachments, 1)
	assert.Equal(t, Attachment{Name: m.Attachments[0].Name, ContentType: "text/csv", Content: m.Attachments[0].Content}, p.Attachments[0])
}

func TestWireReadsNestedParts(t *testing.T) {
	t.Parallel()
	p := Wire(t, []byte(nested))
	assert.Equal(t, "hello", p.Text)
	assert.Equal(t, "<p>hello</p>", p.HTML)
	assert.Equal(t, []Attachment{{Name: "año.txt", ContentType: "text/plain", Content: []byte{0xf1}}}, p.Attachments)
}

func TestWireSeesEveryFault(t *testing.T) {
	t.Parallel()
	_, err := wire([]byte(plain))
	require.NoError(t, err)
	for name, test := range map[string]struct{ message, old, new, words string }{
		"bare LF":                  {plain, "s\r\n", "s\n", "line 10 has a bare CR or LF"},
		"bare CR":                  {plain, "Adi", "A\rdi", "line 10 has a bare CR or LF"},
		"no last line end":         {plain, "s\r\n", "s", "line 10 has a bare CR or LF, or no end"},
		"long line":                {plain, "Adi=C3=B3s", strings.Repeat("a", 999), "line 10 has more than 998 bytes"},
		"8 bits":                   {plain, "=C3=B3s", "ós", "line 10 is not ASCII"},
		"8 bits in the header":     {plain, "Ana", "Añá", "line 3 is not ASCII"},
		"NUL":                      {plain, "Adi", "\x00", "line 10 holds a NUL"},
		"header not folded":        {plain, "MIME", "X: " + strings.Repeat("x ", 40) + "\r\nMIME", "could be folded: \"X: x"},
		"fold not folded":          {plain, "MIME", "X: x\r\n " + strings.Repeat("x ", 40) + "\r\nMIME", "could be folded: \" x"},
		"part's header not folded": {nested, "; filename*", "; x=" + strings.Repeat("x", 80) + "; filename*", "could be folded: \"Content-Disp"},
		"Bcc":                      {plain, "To:", "bcc: a@example.net\r\nTo:", "there is a Bcc"},
		"Resent-Bcc":               {plain, "To:", "Resent-Bcc: a@example.net\r\nTo:", "there is a Resent-Bcc"},
		"no From":                  {plain, "From:", "X:", "there are 0 of From"},
		"two From":                 {plain, "To:", "FROM: a@example.net\r\nTo:", "there are 2 of From"},
		"two authors":              {plain, "From: ", "From: a@example.net,\r\n ", "From: mail: expected single address"},
		"no To":                    {plain, "To:", "X:", "there are 0 of To"},
		"two To":                   {plain, "To:", "To: a@example.net\r\nTo:", "there are 2 of To"},
		"malformed To":             {plain, "<ana@example.net>", "ana@example..net", "To: "},
		"malformed Reply-To":       {plain, "To:", "Reply-To: a b\r\nTo:", "Reply-To: "},
		"no Subject":               {plain, "Subject:", "X:", "there are 0 of Subject"},
		"two Subjects":             {plain, "To:", "Subject: x\r\nTo:", "there are 2 of Subject"},
		"unknown charset":          {plain, "Subject: =?utf-8", "Subject: =?klingon", "Subject: "},
		"no Date":                  {plain, "Date:", "X:", "there are 0 of Date"},
		"two Dates":                {plain, "To:", "Date: Wed, 04 Mar 2026 05:06:07 -0300\r\nTo:", "there are 2 of Date"},
		"impossible Date":          {plain, "04 Mar", "34 Mar", "Date: "},
		"zone by name":             {plain, "-0300", "GMT", "no numeric zone"},
		"no Message-ID":            {plain, "Message-ID:", "X:", "there are 0 of Message-Id"},
		"two Message-IDs":          {plain, "To:", "Message-Id: <x@example.net>\r\nTo:", "there are 2 of Message-Id"},
		"malformed Message-ID":     {plain, "<42@xn--espaa-rta.example>", "42@xn--espaa-rta.example", "is malformed"},
		"other Message-ID":         {plain, "<42@xn--espaa-rta.example>", "<42@localhost>", "in the domain localhost"},
		"Message-ID not punycode":  {plain, "<42@xn--espaa-rta.example>", "<42@españa.example>", "in the domain españa.example"},
		"no MIME-Version":          {plain, "MIME-Version:", "X:", "there are 0 of Mime-Version"},
		"two MIME-Versions":        {plain, "To:", "MIME-Version: 1.0\r\nTo:", "there are 2 of Mime-Version"},
		"other MIME-Version":       {plain, "MIME-Version: 1.0", "MIME-Version: 1.1", `MIME-Version is "1.1"`},
		"no content type":          {plain, "Content-Type", "X", "content type"},
		"other charset":            {plain, "=utf-8\r\n", "=latin1\r\n", `charset of text/plain is "latin1"`},
		"text not UTF-8":           {plain, "Adi=C3", "=FF", "not valid UTF-8"},
		"malformed encoding":       {plain, "Adi=C3", "=ZZ", "text/plain part: an equals sign is not quoted"},
		"malformed base64":         {nested, "8Q==", "8", "text/plain part: "},
		"8-bit transfer":           {plain, "quoted-printable", "8bit", `transfer encoding "8bit"`},
		"no boundary":              {nested, "; boundary=inner", "", "no boundary"},
		"cut off":                  {nested, "--outer--", "", "in a multipart: "},
		"two texts":                {nested, "text/html", "text/plain", "two parts of text/plain"},
		"malformed disposition":    {nested, "attachment;", "attachment; =;", "content disposition"},
		"header without a colon":   {plain, "To:", "To", "malformed"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			wrong := strings.Replace(test.message, test.old, test.new, 1)
			require.NotEqual(t, test.message, wrong)
			_, err := wire([]byte(wrong))
			require.ErrorContains(t, err, test.words)
		})
	}
}

func TestWireAllowsHeaderLinesThatCannotBeFolded(t *testing.T) {
	t.Parallel()
	url := "<https://example.org/" + strings.Repeat("x", 100) + ">"
	for _, field := range []string{"List-Unsubscribe: " + url, "List-Unsubscribe: <mailto:x@example.org>,\r\n\t" + url} {
		_, err := wire([]byte(field + "\r\n" + plain))
		require.NoError(t, err, field)
	}
}

func TestWireAllowsLinesOf998Bytes(t *testing.T) {
	t.Parallel()
	_, err := wire([]byte(strings.Replace(plain, "Adi=C3=B3s", strings.Repeat("a", 998), 1)))
	require.NoError(t, err)
}

func TestWireNamesAllFaults(t *testing.T) {
	t.Parallel()
	wrong := strings.NewReplacer("To:", "Bcc:", "-0300", "GMT", "=C3=B3s\r\n", "ós\n").Replace(plain)
	_, err := wire([]byte(wrong))
	for _, words := range []string{"there are 0 of To", "there is a Bcc", "no numeric zone", "not ASCII", "bare CR or LF"} {
		require.ErrorContains(t, err, words)
	}
}
