package host

import "embed"

//go:embed logos
var logos embed.FS

// Logo returns a logo as a PNG file; nil when there is none of that name.
func Logo(name string) []byte {
	file, err := logos.ReadFile("logos/" + name)
	if err != nil {
		return nil
	}
	return file
}

// logoURL is where e-mails find a logo; empty for none.
func (h *Host) logoURL(name string) string {
	if name == "" {
		return ""
	}
	return h.url + "logos/" + name
}
