package notify

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestPersonName(t *testing.T) {
	t.Parallel()
	for _, name := range []string{
		"Ana", "J.Perez", "MA.ELENA", "María José", "Dr. House", "O'Neill", "Ana.", "St. John", "X Æ A-12", "علي", "Ana (contaduría)",
	} {
		assert.Equal(t, name, personName(name))
	}
	for _, name := range []string{
		"http://malo.example", "Gane en HTTPS://malo.example ya", "www.malo.example", "WWW.MALO", "gane malo.example/x ya",
		"entre a malo.com", "ENTRE A MALO.COM", "ana@malo.example", "malo.example", "ya: ñandú.uy?",
	} {
		assert.Empty(t, personName(name), "%q", name)
	}
}
