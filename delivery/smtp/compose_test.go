package smtp

import (
	"bytes"
	"encoding/hex"
	"math/rand/v2"
	netmail "net/mail"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/buzon-go/buzon/delivery/mail"
	"github.com/buzon-go/buzon/delivery/smtptest"
)

// unix gives a text the line ends that a Go source has.
func unix(message []byte) string { return strings.ReplaceAll(string(message), "\r\n", "\n") }

func TestComposeText(t *testing.T) {
	t.Parallel()
	composed, err := Compose(newMessage())
	require.NoError(t, err)
	assert.Equal(t, `Date: Wed, 04 Mar 2026 05:06:07 -0300
From: =?utf-8?q?Club_Atl=C3=A9tico?= <club@example.org>
To: "Ana" <ana@example.net>
Subject: =?utf-8?q?Su_confirmaci=C3=B3n?=
Message-ID: <42@example.org>
Auto-Submitted: auto-generated
MIME-Version: 1.0
Content-Type: text/plain; charset=utf-8
Content-Transfer-Encoding: quoted-printable

Hola.
.un punto
`, unix(composed))
}

func TestComposeEverything(t *testing.T) {
	t.Parallel()
	m := newMessage()
	m.ReplyTo = &netmail.Address{Name: `Mesa, "ayuda" (1)`, Address: "ayuda@example.org"}
	m.HTML = "<p>Adiós</p>"
	m.Attachments = []mail.Attachment{
		{Name: "entradas.pdf", ContentType: "application/pdf", Content: []byte("PDF")},
		{Name: `Facturación "n.º 1".csv`, ContentType: "text/csv; charset=iso-8859-1", Content: []byte("a;\xf3\n")},
	}
	m.Headers = []mail.Header{
		{Name: "List-Unsubscribe", Value: "<https://example.org/baja?x=" + strings.Repeat("y", 100) + ">, <mailto:baja@example.org>"},
		{Name: "X-Lote", Value: "año 7"},
	}
	composed, err := Compose(m)
	require.NoError(t, err)
	mixed, alternative := boundaryOf("mixed"), boundaryOf("alternative")
	assert.Equal(t, `Date: Wed, 04 Mar 2026 05:06:07 -0300
From: =?utf-8?q?Club_Atl=C3=A9tico?= <club@example.org>
To: "Ana" <ana@example.net>
Reply-To: "Mesa, \"ayuda\" (1)" <ayuda@example.org>
Subject: =?utf-8?q?Su_confirmaci=C3=B3n?=
Message-ID: <42@example.org>
List-Unsubscribe: <https://example.org/baja?x=`+strings.Repeat("y", 100)+`>,
 <mailto:baja@example.org>
X-Lote: =?utf-8?q?a=C3=B1o_7?=
Auto-Submitted: auto-generated
MIME-Version: 1.0
Content-Type: multipart/mixed; boundary="`+mixed+`"

--`+mixed+`
Content-Type: multipart/alternative;
 boundary="`+alternative+`"

--`+alternative+`
Content-Type: text/plain; charset=utf-8
Content-Transfer-Encoding: quoted-printable

Hola.
.un punto

--`+alternative+`
Content-Type: text/html; charset=utf-8
Content-Transfer-Encoding: quoted-printable

<p>Adi=C3=B3s</p>

--`+alternative+`--

--`+mixed+`
Content-Type: application/pdf; name="entradas.pdf"
Content-Transfer-Encoding: base64
Content-Disposition: attachment; filename="entradas.pdf"

UERG

--`+mixed+`
Content-Type: text/csv; charset=iso-8859-1; name="Facturacion _n._ 1_.csv"
Content-Transfer-Encoding: base64
Content-Disposition: attachment; filename="Facturacion _n._ 1_.csv";
 filename*=UTF-8''Facturaci%C3%B3n%20%22n.%C2%BA%201%22.csv

YTvzCg==

--`+mixed+`--
`, unix(composed))

	parsed, err := smtptest.Message{Data: composed}.Parse()
	require.NoError(t, err)
	assert.Equal(t, "<p>Adiós</p>\r\n", parsed.HTML)
	require.Len(t, parsed.Attachments, 2)
	assert.Equal(t, m.Attachments[1].Name, parsed.Attachments[1].Name)
}

func boundaryOf(subtype string) string {
	fields := multipart(subtype, "42@example.org").fields
	return regexp.MustCompile(`boundary="(.*)"`).FindStringSubmatch(fields[0].value)[1]
}

func TestSameMessageHasTheSameBytes(t *testing.T) {
	t.Parallel()
	m := newMessage()
	m.HTML = "<p>x</p>"
	m.Attachments = []mail.Attachment{{Name: "a.pdf", Content: []byte("x")}}
	one, err := Compose(m)
	require.NoError(t, err)
	two, err := Compose(m)
	require.NoError(t, err)
	assert.Equal(t, one, two)

	m.MessageID = "43@example.org"
	other, err := Compose(m)
	require.NoError(t, err)
	assert.NotContains(t, string(other), boundaryOf("mixed"))
}

func TestMissingDateAndMessageIDAreMade(t *testing.T) {
	t.Parallel()
	m := newMessage()
	m.From.Address = "club@españa.example"
	m.MessageID, m.Date = "", time.Time{}
	seen := map[string]bool{}
	for range 2 {
		composed, err := Compose(m)
		require.NoError(t, err)
		parsed, err := smtptest.Message{Data: composed}.Parse()
		require.NoError(t, err)
		assert.Regexp(t, `^[a-z0-9]{20,}@xn--espaa-rta\.example$`, parsed.MessageID)
		assert.False(t, seen[parsed.MessageID])
		seen[parsed.MessageID] = true
		date, err := parsed.Header.Date()
		require.NoError(t, err)
		assert.WithinDuration(t, time.Now(), date, time.Minute)
	}
}

func TestMessageIDOfAnInternationalDomain(t *testing.T) {
	t.Parallel()
	m := newMessage()
	m.MessageID = "abc@españa.example"
	composed, err := Compose(m)
	require.NoError(t, err)
	assert.Contains(t, string(composed), "Message-ID: <abc@xn--espaa-rta.example>\r\n")
}

func TestHostMayChangeAutoSubmitted(t *testing.T) {
	t.Parallel()
	m := newMessage()
	m.Headers = []mail.Header{{Name: "auto-submitted", Value: "auto-replied"}}
	composed, err := Compose(m)
	require.NoError(t, err)
	assert.Equal(t, 1, strings.Count(strings.ToLower(string(composed)), "auto-submitted:"))
}

func TestComposeRefuses(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		change func(*mail.Message)
		reach  mail.Reach
		words  string
	}{
		"CRLF in the subject":         {func(m *mail.Message) { m.Subject = "a\r\nBcc: x" }, mail.ReachMessage, "subject: holds a control"},
		"NUL in the subject":          {func(m *mail.Message) { m.Subject = "a\x00" }, mail.ReachMessage, "subject: holds a control"},
		"invalid subject":             {func(m *mail.Message) { m.Subject = "a\xff" }, mail.ReachMessage, "subject: is not valid UTF-8"},
		"no text":                     {func(m *mail.Message) { m.Text = " \n" }, mail.ReachMessage, "text: is empty"},
		"invalid text":                {func(m *mail.Message) { m.Text = "\xff" }, mail.ReachMessage, "text: is not valid UTF-8"},
		"NUL in the text":             {func(m *mail.Message) { m.Text = "\x00" }, mail.ReachMessage, "text: holds a NUL"},
		"invalid HTML":                {func(m *mail.Message) { m.HTML = "\xff" }, mail.ReachMessage, "HTML: is not valid UTF-8"},
		"LF in the sender's name":     {func(m *mail.Message) { m.From.Name = "a\nb" }, mail.ReachSender, "From: holds a control"},
		"LF in the recipient's name":  {func(m *mail.Message) { m.To.Name = "a\nb" }, mail.ReachRecipient, "To: holds a control"},
		"LF in the reply name":        {func(m *mail.Message) { m.ReplyTo = &netmail.Address{Name: "a\n", Address: "a@b.example"} }, mail.ReachSender, "ReplyTo"},
		"no sender":                   {func(m *mail.Message) { m.From.Address = "" }, mail.ReachSender, "From: the e-mail address"},
		"parameters behind recipient": {func(m *mail.Message) { m.To.Address = "b@y.example> NOTIFY=NEVER X=<z" }, mail.ReachRecipient, "To:"},
		"quoted recipient":            {func(m *mail.Message) { m.To.Address = `"a@x ORCPT=y"@z.example` }, mail.ReachRecipient, "To:"},
		"CRLF behind recipient":       {func(m *mail.Message) { m.To.Address = "b@y.example\r\nRSET" }, mail.ReachRecipient, "To:"},
		"impossible domain":           {func(m *mail.Message) { m.To.Address = "b@ñ_x.example" }, mail.ReachRecipient, "no international domain name"},
		"content type of one word":    {func(m *mail.Message) { m.Attachments = []mail.Attachment{{Name: "a.pdf", ContentType: "pdf"}} }, mail.ReachMessage, "content type"},
		"reserved header":             {func(m *mail.Message) { m.Headers = []mail.Header{{Name: "bCC", Value: "x"}} }, mail.ReachMessage, "header 1: bCC"},
		"reserved family":             {func(m *mail.Message) { m.Headers = []mail.Header{{Name: "Content-Type", Value: "x"}} }, mail.ReachMessage, "Content-Type"},
		"header name with colon":      {func(m *mail.Message) { m.Headers = []mail.Header{{Name: "X: y", Value: "x"}} }, mail.ReachMessage, "header 1: name"},
		"header name not ASCII":       {func(m *mail.Message) { m.Headers = []mail.Header{{Name: "Año", Value: "x"}} }, mail.ReachMessage, "header 1: name"},
		"CRLF in a header":            {func(m *mail.Message) { m.Headers = []mail.Header{{Name: "X", Value: "x\r\nBcc: y"}} }, mail.ReachMessage, "X: holds a control"},
		"empty header":                {func(m *mail.Message) { m.Headers = []mail.Header{{Name: "X", Value: " "}} }, mail.ReachMessage, "X: is empty"},
		"word longer than a line": {func(m *mail.Message) {
			m.Headers = []mail.Header{{Name: "List-Unsubscribe", Value: "<https://example.org/" + strings.Repeat("x", 1000) + ">"}}
		}, mail.ReachMessage, "longer than a line"},
		"list header not ASCII": {func(m *mail.Message) {
			m.Headers = []mail.Header{{Name: "List-Help", Value: "<https://example.org/año>"}}
		}, mail.ReachMessage, "URL"},
		"Message-ID in brackets":  {func(m *mail.Message) { m.MessageID = "<a@b.example>" }, mail.ReachMessage, "Message-ID"},
		"Message-ID without @":    {func(m *mail.Message) { m.MessageID = "a" }, mail.ReachMessage, "Message-ID"},
		"Message-ID with CRLF":    {func(m *mail.Message) { m.MessageID = "a@b.example\r\nX: y" }, mail.ReachMessage, "Message-ID"},
		"attachment without name": {func(m *mail.Message) { m.Attachments = []mail.Attachment{{}} }, mail.ReachMessage, "attachment 1: name"},
		"attachment with path":    {func(m *mail.Message) { m.Attachments = []mail.Attachment{{Name: "../a"}} }, mail.ReachMessage, "attachment 1: name"},
		"attachment with CRLF":    {func(m *mail.Message) { m.Attachments = []mail.Attachment{{Name: "a\r\n"}} }, mail.ReachMessage, "attachment 1: name"},
		"attachment name too long": {func(m *mail.Message) {
			m.Attachments = []mail.Attachment{{Name: strings.Repeat("a", 256)}}
		}, mail.ReachMessage, "more than 255 bytes"},
		"content type with CRLF": {func(m *mail.Message) {
			m.Attachments = []mail.Attachment{{Name: "a", ContentType: "text/plain;\r\n a=b"}}
		}, mail.ReachMessage, "content type"},
		"attached message": {func(m *mail.Message) {
			m.Attachments = []mail.Attachment{{Name: "a", ContentType: "message/rfc822"}}
		}, mail.ReachMessage, "cannot be attached"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := newMessage()
			test.change(m)
			_, err := Compose(m)
			require.ErrorContains(t, err, test.words)
			failure := failureOf(t, err)
			assert.Equal(t, mail.PhaseCompose, failure.Phase)
			assert.Equal(t, test.reach, failure.Reach)
			assert.False(t, failure.Temporary)
			assert.Equal(t, mail.NotAccepted, failure.Certainty)
		})
	}
}

func TestComposeNamesEveryFault(t *testing.T) {
	t.Parallel()
	m := newMessage()
	m.Subject, m.Text = "\n", ""
	m.Headers = []mail.Header{{Name: "Bcc", Value: "x"}}
	_, err := Compose(m)
	for _, fault := range []string{"subject", "text", "Bcc"} {
		require.ErrorContains(t, err, fault)
	}
}

func TestFoldingIsUndoneByUnfolding(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(3, 4))
	for range 2000 {
		var value strings.Builder
		for range 1 + random.IntN(30) {
			value.WriteString(strings.Repeat(" ", random.IntN(4)))
			value.WriteString(strings.Repeat("x", 1+random.IntN(90)))
		}
		folded, err := field{"Subject", value.String()}.fold()
		require.NoError(t, err)
		require.NoError(t, checkLines(folded))
		for line := range bytes.Lines(folded) {
			require.NotEmpty(t, bytes.TrimSpace(line), "no line is empty")
			words := strings.TrimSpace(strings.TrimPrefix(string(line), "Subject:"))
			if strings.Contains(words, " ") {
				require.LessOrEqual(t, len(line), preferredLine+len("\r\n"), "it could have been folded")
			}
		}
		unfolded := strings.ReplaceAll(strings.TrimSuffix(string(folded), "\r\n"), "\r\n ", " ")
		require.Equal(t, "Subject: "+value.String(), unfolded)
	}
}

func TestTextThatLooksEncodedIsEncoded(t *testing.T) {
	t.Parallel()
	for _, subject := range []string{"=?utf-8?q?=0D=0ABcc:_x?=", "a =?b", strings.Repeat("=?x?=", 50), "ñ =?utf-8?b?eA==?="} {
		m := newMessage()
		m.Subject = subject
		composed, err := Compose(m)
		require.NoError(t, err)
		assert.Equal(t, subject, smtptest.Message{Data: composed}.Subject())
	}
}

func TestCheckLinesFindsWhatSmugglesMessages(t *testing.T) {
	t.Parallel()
	for _, message := range []string{"a\n", "a\r", "a\rb\r\n", "a\r\r\n", "a", strings.Repeat("a", 999) + "\r\n"} {
		require.Error(t, checkLines([]byte(message)), "%q", message)
	}
	for _, message := range []string{"", "\r\n", "a\r\n\r\nb\r\n", strings.Repeat("a", 998) + "\r\n"} {
		require.NoError(t, checkLines([]byte(message)), "%q", message)
	}
}

func TestStuffDoublesDotsAtLineStartsOnly(t *testing.T) {
	t.Parallel()
	for message, want := range map[string]string{
		".\r\n":              "..\r\n",
		"a\r\n.\r\n.\r\nb.c": "a\r\n..\r\n..\r\nb.c",
		"a.\r\n":             "a.\r\n",
		"..\r\n..":           "...\r\n...",
	} {
		assert.Equal(t, want, string(stuff([]byte(message))))
	}
}

// FuzzCompose holds that whatever is composed is well-formed and says what it
// was given.
func FuzzCompose(f *testing.F) {
	f.Add("Hola", "Ana, (x)", "text", "<p>", "a.pdf", "application/pdf", "x", []byte("y"))
	f.Add("=?x?=", "ñ", ".\r\n..\n\r", "\u2028.", "ñ=?.\"\\", "text/plain; charset=\"ñ\"", "=?", []byte{0, 13, 10})
	f.Add(strings.Repeat("z", 2000), strings.Repeat("\u00e9 ", 300), strings.Repeat(".", 3000), "\t \n", "😀", "a/b;c=d", "  y  ", []byte{})
	f.Fuzz(func(t *testing.T, subject, name, text, html, file, contentType, header string, content []byte) {
		m := newMessage()
		m.Subject, m.To.Name, m.Text, m.HTML = subject, name, text, html
		m.Attachments = []mail.Attachment{{Name: file, ContentType: contentType, Content: content}}
		m.Headers = []mail.Header{{Name: "X-Fuzz", Value: header}}
		composed, err := Compose(m)
		if err != nil {
			require.Equal(t, mail.PhaseCompose, failureOf(t, err).Phase)
			return
		}
		require.NoError(t, checkLines(composed))
		require.True(t, isASCII(string(composed)))
		parsed, err := smtptest.Message{Data: composed}.Parse()
		require.NoError(t, err, hex.Dump(composed))
		require.Equal(t, strings.Trim(subject, " "), strings.Trim(parsed.Subject, " "))
		require.Equal(t, crlf(text), parsed.Text)
		if html != "" {
			require.Equal(t, crlf(html), parsed.HTML)
		}
		require.Len(t, parsed.Attachments, 1)
		require.Equal(t, file, parsed.Attachments[0].Name)
		require.Equal(t, content, parsed.Attachments[0].Content, "%q", file)
		// Nothing that was given may have become a header of its own.
		for fields := parsed.Header.Fields(); fields.Next(); {
			require.Contains(t, []string{"Date", "From", "To", "Subject", "Message-Id", "X-Fuzz", "Auto-Submitted",
				"Mime-Version", "Content-Type"}, fields.Key())
		}
	})
}
