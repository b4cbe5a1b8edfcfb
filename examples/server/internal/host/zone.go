package host

import "time"

// inZone returns a time in a zone of the tables.
func inZone(at time.Time, zone string) (time.Time, error) {
	place, err := time.LoadLocation(zone)
	if err != nil {
		return at, err
	}
	return at.In(place), nil
}
