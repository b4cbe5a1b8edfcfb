package web

import (
	"net/http"
	"strconv"

	"github.com/buzon-go/buzon/delivery"
)

// pageSize is how many jobs or deliveries a page shows.
const pageSize = 50

// operator is who did what these pages do; a host with sessions knows better.
const operator = "panel de ejemplo"

// jobsPage lists jobs.
type jobsPage struct {
	Jobs  []*delivery.Job
	Older int64 // where the next page begins; 0 for no further page
}

func (s *site) jobs(w http.ResponseWriter, r *http.Request) error {
	before, err := beforeID(r)
	if err != nil {
		return err
	}
	jobs, err := s.Queue.ListJobs(r.Context(), delivery.JobFilter{Before: before, Limit: pageSize})
	if err != nil {
		return err
	}
	page := jobsPage{Jobs: jobs}
	if len(jobs) == pageSize {
		page.Older = jobs[pageSize-1].ID
	}
	return s.show(w, r, http.StatusOK, "jobs", page)
}

// beforeID returns where a page of a list begins; 0 is its newest end.
func beforeID(r *http.Request) (int64, error) {
	text := r.URL.Query().Get("antes")
	if text == "" {
		return 0, nil
	}
	id, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0, errNoPage
	}
	return id, nil
}

func (s *site) retryJob(w http.ResponseWriter, r *http.Request) error {
	id, err := pathID(r, "id")
	if err != nil {
		return err
	}
	if err := s.Queue.RetryNow(r.Context(), id); err != nil {
		return err
	}
	return done(w, r, "/trabajos", "ejecutar")
}

func (s *site) cancelJob(w http.ResponseWriter, r *http.Request) error {
	id, err := pathID(r, "id")
	if err != nil {
		return err
	}
	state, err := s.Queue.Cancel(r.Context(), id, operator, "a mano")
	if err != nil {
		return err
	}
	if state == delivery.StateRunning {
		return done(w, r, "/trabajos", "cancelar")
	}
	return done(w, r, "/trabajos", "cancelado")
}
