package web

import (
	"net/http"
	"strconv"
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

// notices are what a page can say about what was just done, by the word in its
// address.
var notices = map[string]string{
	"alta":      "Cuenta creada. El mensaje de bienvenida sale en un momento: se ve en Correo.",
	"codigo":    "Código pedido. El mensaje sale en un momento: se ve en Correo.",
	"luego":     "Código pedido. El mensaje sale en 20 segundos, salvo que el pedido se anule antes.",
	"anulado":   "Pedido anulado. Si el mensaje no había salido, ya no sale.",
	"ejecutar":  "El trabajo se ejecuta ahora.",
	"cancelado": "Trabajo cancelado.",
	"cancelar":  "El trabajo está en curso: se le pidió que termine.",
	"resuelto":  "Entrega resuelta.",
	"reenviar":  "Entrega resuelta: sale con el próximo intento de su trabajo. En Trabajos se puede adelantar.",
}
