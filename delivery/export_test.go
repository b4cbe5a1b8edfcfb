package delivery

// Channel returns the channel on which a queue notifies.
func Channel(q *Queue) string { return q.store.channel }
