package web

import (
	"net/http"
	"strconv"
	"time"
)

// A handlerFunc answers a request, or returns why it could not.
type handlerFunc func(w http.ResponseWriter, r *http.Request) error

func (s *site) handler(handle handlerFunc) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := handle(w, r); err != nil {
			s.fail(w, r, err)
		}
	})
}

// pathID returns the number at a place of the path.
func pathID(r *http.Request, name string) (int64, error) {
	id, err := strconv.ParseInt(r.PathValue(name), 10, 64)
	if err != nil {
		return 0, errNoPage
	}
	return id, nil
}

// done sends the browser back to a page that says what was done. A reload of
// that page does nothing again.
func done(w http.ResponseWriter, r *http.Request, page, notice string) error {
	http.Redirect(w, r, page+"?aviso="+notice, http.StatusSeeOther)
	return nil
}

// postponed is the value of the buttons that hold an e-mail back, so that there
// is time to withdraw what it would say.
const postponed = "luego"

// holdBack is how long they hold it back.
const holdBack = 20 * time.Second

// delay returns how long a form asks to hold its e-mail back.
func delay(r *http.Request) time.Duration {
	if r.PostForm.Get("salida") == postponed {
		return holdBack
	}
	return 0
}

// notices are what a page can say about what was just done, by the word in its
// address.
var notices = map[string]string{
	"alta":      "Cuenta creada. El mensaje de bienvenida sale en un momento: se ve en Correo.",
	"codigo":    "Código pedido. El mensaje sale en un momento: se ve en Correo.",
	"luego":     "Código pedido. El mensaje sale en 20 segundos, salvo que el pedido se anule antes.",
	"anulado":   "Pedido anulado. Si el mensaje no había salido, ya no sale.",
	"compra":    "Compra creada. Todavía no se pagó: nadie recibe nada.",
	"pagada":    "Compra pagada. La confirmación con las entradas sale en un momento: se ve en Correo.",
	"pagada20":  "Compra pagada. La confirmación sale en 20 segundos, salvo que la compra se anule antes.",
	"anulada":   "Compra anulada. Si la confirmación no había salido, ya no sale.",
	"movida":    "Fecha reprogramada. Cada comprador recibe un mensaje con las dos fechas: se ven en Correo.",
	"suspende":  "Fecha suspendida. Cada comprador recibe un mensaje: se ven en Correo.",
	"ejecutar":  "El trabajo se ejecuta ahora.",
	"cancelado": "Trabajo cancelado.",
	"cancelar":  "El trabajo está en curso: se le pidió que termine.",
	"resuelto":  "Entrega resuelta.",
	"reenviar":  "Entrega resuelta: sale con el próximo intento de su trabajo. En Trabajos se puede adelantar.",
}
