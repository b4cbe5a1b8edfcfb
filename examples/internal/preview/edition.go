package preview

import (
	"context"
	"sync"

	"github.com/buzon-go/buzon/notify"
)

// An edition is the e-mails of one set of views. Each brand's are rendered once
// for each language, when they are first asked for.
type edition struct {
	*notify.Views
	mu       sync.Mutex
	rendered map[rendering][]letter
}

type rendering struct {
	brand    int // its place among the brands
	language string
}

func newEdition(views *notify.Views) *edition {
	return &edition{Views: views, rendered: map[rendering][]letter{}}
}

// letters returns all e-mails of a brand. They are the same ones, in the same
// order, for every brand and language.
func (e *edition) letters(ctx context.Context, brands []Brand, brand int, language string) ([]letter, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	key := rendering{brand, language}
	if known, ok := e.rendered[key]; ok {
		return known, nil
	}
	previews, err := e.Previews(ctx, brands[brand].Tenant, language)
	if err != nil {
		return nil, err
	}
	e.rendered[key] = lettersOf(previews)
	return e.rendered[key], nil
}
