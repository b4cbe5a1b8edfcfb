package notify

import (
	"fmt"
	"strings"

	"github.com/buzon-go/buzon/delivery/mail/view"
)

// ticketWords are what a ticket says besides what it is told.
type ticketWords struct {
	position string // of a ticket, and how many there are
	kind     string
	seat     string
	holder   string
	price    string
	purchase string
	document string // of a purchase's number
}

var ticketWordsIn = map[string]ticketWords{
	"es": {
		position: "Entrada %d de %d", kind: "Tipo", seat: "Ubicación", holder: "Titular", price: "Precio", purchase: "Compra",
		document: "Entradas de la compra número %s",
	},
	"en": {
		position: "Ticket %d of %d", kind: "Type", seat: "Seat", holder: "Holder", price: "Price", purchase: "Purchase",
		document: "Tickets for purchase number %s",
	},
	"pt": {
		position: "Ingresso %d de %d", kind: "Tipo", seat: "Lugar", holder: "Titular", price: "Preço", purchase: "Compra",
		document: "Ingressos da compra número %s",
	},
}

// wordsIn returns the words of a language, Spanish ones where there are none.
func wordsIn(language string) ticketWords {
	if words, ok := ticketWordsIn[language]; ok {
		return words
	}
	return ticketWordsIn["es"]
}

// title returns the document's.
func (w ticketWords) title(number string) string {
	return fmt.Sprintf(w.document, view.OneLine(number, view.MaxName))
}

// fileName returns the document's name as a file, which no system refuses.
func (w ticketWords) fileName(number string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune(`/\:*?"<>|`, r) {
			return '-'
		}
		return r
	}, w.title(number)) + ".pdf"
}
