package preview

import "net/http"

// overviewPage lists the e-mails.
type overviewPage struct {
	Choice  choice
	Groups  []group
	Letters []letter
}

func (s *site) overview(w http.ResponseWriter, r *http.Request) error {
	edition, chosen, err := s.edition(r)
	if err != nil {
		return err
	}
	all, err := edition.letters(r.Context(), s.brands, 0, chosen.Language)
	if err != nil {
		return err
	}
	return s.show(w, r, http.StatusOK, "overview", overviewPage{
		Choice: chosen, Groups: []group{chosen.languages(edition.Languages())}, Letters: all,
	})
}
