package httpapi_test

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/buzon-go/buzon/delivery/smtptest"
	"github.com/buzon-go/buzon/internal/browser"
)

// open shows a page of the panel to somebody with a session.
func (h *panelHouse) open(b *browser.Browser, screen browser.Screen, path string) *browser.Page {
	h.t.Helper()
	p := b.Page(h.t, screen)
	p.Load(h.login)
	p.Load(h.url + path)
	return p
}

// await waits until an expression of JavaScript is true.
func await(p *browser.Page, expression string) {
	browser.Eval[bool](p, fmt.Sprintf(`new Promise((done) => {
		const look = () => { if (%s) done(true); else setTimeout(look, 20); };
		look();
	})`, expression))
}

func done(n int) string { return fmt.Sprintf("document.getElementById('barra')?.value === %d", n) }

// A lote from its start to its end, as the person who runs billing sees it.
func TestPanelInABrowser(t *testing.T) {
	t.Parallel()
	h := newPanelHouse(t)
	b := browser.Open(t)
	h.addLote("norte", 7, "completado", 300)
	hold := smtptest.NewHold()
	t.Cleanup(hold.Release)
	require.NoError(t, h.mail.SetRules(
		smtptest.Rule{At: smtptest.Rcpt, Recipient: "socio17@members.example", Times: 1, Reply: smtptest.Reply{Code: 550, Enhanced: "5.1.1", Text: "unknown"}},
		smtptest.Rule{At: smtptest.Rcpt, Recipient: "socio151@members.example", Times: 1, Hold: hold},
	))
	h.run()

	late := h.open(b, browser.Screen{}, "norte/lotes/7")
	p := h.open(b, browser.Screen{}, "norte/lotes/7")
	p.Click("#todo")
	p.Wait(".question")
	p.Click("button.main")
	p.Wait("#barra")
	browser.Eval[bool](p, "window.mine = true")
	await(p, "!location.href.includes('aviso')") // a reload does not say it again

	await(p, done(150))
	assert.Equal(t, "150 de 300 procesados", p.Text(".bar p"))
	assert.Equal(t, "Enviando: 50 % procesado.", browser.Eval[string](p, "document.getElementById('anuncio').textContent"))
	p.Click("#socio-20 input")

	// Somebody else, who opened the page before, is told why not now.
	late.Click("#todo")
	late.Wait(".question")
	late.Click("button.main")
	late.Wait(".fault")
	assert.Equal(t, "El lote ya tiene un envío activo: el trabajo 1.", late.Text(".fault"))
	refused := late.Problems()
	assert.Len(t, refused, 1, "Chromium tells of each 409")
	assert.Contains(t, strings.Join(refused, ""), "409")

	hold.Release()
	await(p, done(300))
	p.Wait("#fallados")
	await(late, done(300))
	assert.True(t, browser.Eval[bool](p, "window.mine"), "without a reload")
	assert.True(t, browser.Eval[bool](p, "document.querySelector('#socio-20 input').checked"), "a mark stays")
	assert.Contains(t, browser.Eval[string](p, "document.getElementById('anuncio').textContent"), "Enviados: 299. Con error: 1.")
	assert.Equal(t, "300", p.Text("#filtro- b"))

	p.Click("#filtro-error")
	p.Wait("#filtro-error[aria-current]")
	assert.Equal(t, 1, browser.Eval[int](p, "document.querySelectorAll('tbody tr').length"))
	p.Click("#socio-17 input")
	p.Click("#seleccionados")
	p.Wait(".question")
	assert.Equal(t, "Se envía un correo a 1 persona.", p.Text(".question"))
	p.Click("button.main")
	p.Wait("#avance")
	await(p, "document.querySelector('#filtro-error b').textContent === '0' && document.querySelector('#todo')")
	assert.Equal(t, 1, h.mail.Copies(messageTo(t, h, "socio17@members.example")))
	assert.Empty(t, p.Problems())
}

// messageTo returns the Message-ID of what a member has got.
func messageTo(t *testing.T, h *panelHouse, address string) string {
	t.Helper()
	for _, message := range h.mail.Messages() {
		if message.To[0] == address {
			return message.MessageID()
		}
	}
	t.Fatalf("%s has no message", address)
	return ""
}

// Cancelling ends a lote on the page where it was asked for.
func TestPanelCancelsInABrowser(t *testing.T) {
	t.Parallel()
	h := newPanelHouse(t)
	b := browser.Open(t)
	h.addLote("norte", 7, "completado", 30)
	hold := smtptest.NewHold()
	t.Cleanup(hold.Release)
	require.NoError(t, h.mail.SetRules(smtptest.Rule{At: smtptest.Rcpt, Recipient: "socio10@members.example", Hold: hold}))
	h.run()
	p := h.open(b, browser.Screen{}, "norte/lotes/7?confirmar=todos")
	p.Click("button.main")
	p.Wait("#cancelar")
	await(p, done(9))
	browser.Eval[string](p, "document.body.id = 'before'")
	p.Click("#cancelar")
	p.Wait("body:not(#before) .notice")
	assert.Equal(t, "Se pidió cancelar el envío: termina en unos segundos.", p.Text(".notice"))
	// The server never answers for the tenth, who has not got the message.
	await(p, "document.querySelector('#filtro-omitido b').textContent === '21' && document.querySelector('#todo')")
	assert.Contains(t, p.Text("#socio-30"), "cancelado por Ana <clerk>")
	assert.Empty(t, p.Problems())
}

// Somebody without a mouse or without eyes gets around: the search takes Enter,
// and whatever can be reached has a name.
func TestPanelByKeyboard(t *testing.T) {
	t.Parallel()
	h := newPanelHouse(t)
	h.addLote("norte", 7, "completado", 2)
	h.record(1, "enviado", "")
	h.record(2, "error", "la casilla está llena")
	p := h.open(browser.Open(t), browser.Screen{}, "norte/lotes/7")
	p.Type("#socio", "2\n")
	p.Wait("#socio[value='2']")
	assert.Equal(t, 1, browser.Eval[int](p, "document.querySelectorAll('tbody tr').length"))
	names := browser.Eval[[]string](p, `[...document.querySelectorAll('a, button, input:not([type=hidden])')].filter((e) => e.tabIndex >= 0)
		.map((e) => (e.labels?.[0] ?? e).textContent.trim())`)
	for _, name := range names {
		assert.NotEmpty(t, name)
	}
	p.Click("#todas input")
	assert.True(t, browser.Eval[bool](p, "document.querySelector('#socio-2 input').checked"))
	assert.Empty(t, p.Problems())
}

// The pages on all screens, for people to look at; none is wider than its screen.
func TestPanelOnScreens(t *testing.T) {
	t.Parallel()
	h := newPanelHouse(t)
	b := browser.Open(t)
	h.addLote("norte", 7, "completado", 12345)
	h.exec(`INSERT INTO norte.membresia_facturacion_email_detalle (lote_id, socio_id, email, estado, intentos, ultimo_intento, error_detalle)
		SELECT 7, n, 'socio' || n || '@members.example', CASE WHEN n % 7 = 0 THEN 'error' WHEN n % 11 = 0 THEN 'omitido' ELSE 'enviado' END, 1, now(), NULL
		FROM generate_series(1, 12345) n`)
	h.exec(`UPDATE norte.membresia_facturacion_email_detalle SET error_detalle = 'La casilla del destinatario está llena: el servidor la rechazó por ahora. ' || repeat('x', 80) WHERE estado = 'error'`)
	h.exec(`UPDATE norte.membresia_facturacion_email_detalle SET error_detalle = 'sin dirección de correo', email = NULL, intentos = 0, ultimo_intento = NULL WHERE estado = 'omitido'`)
	h.exec(`UPDATE norte.membresia_facturacion_email_detalle SET email = repeat('largo.', 10) || '@members.example' WHERE socio_id = 3`)
	h.addLote("norte", 8, "completado", 5)
	h.visit("POST", "norte/lotes/8/reenviar", map[string][]string{"todos": {"todos"}}, nil)
	var selection []string
	for n := range 30 {
		selection = append(selection, strconv.Itoa(12000+n))
	}
	pages := map[string]string{
		"lote": "norte/lotes/7?estado=error&pagina=2", "all": "norte/lotes/7", "active": "norte/lotes/8", "empty": "norte/lotes/7?estado=pendiente",
		"confirm": "norte/lotes/7?confirmar=todos", "selected": "norte/lotes/7?confirmar=seleccion&socio_ids=" + strings.Join(selection, "&socio_ids="),
		"error": "norte/lotes/404",
	}
	for _, width := range []int{1200, 390, 320} {
		light := browser.Screen{Width: width, Mobile: width < 1200}
		p := h.open(b, light, "norte/lotes/7")
		for name, path := range pages {
			p.Load(h.url + path)
			assert.Zero(t, p.Overflow(), "%s at %d", name, width)
		}
		if os.Getenv(browser.Screenshots) == "" {
			continue
		}
		dark := light
		dark.Dark = true
		for shade, p := range map[string]*browser.Page{"light": p, "dark": h.open(b, dark, "norte/lotes/7")} {
			for name, path := range pages {
				p.Load(h.url + path)
				browser.SaveScreenshot(t, fmt.Sprintf("panel/%s-%d-%s", name, width, shade), p.Screenshot())
			}
		}
	}
}
