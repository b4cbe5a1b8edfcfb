package notify

import (
	"embed"
	"errors"
	"fmt"
	"html/template"
	"strings"
	texttemplate "text/template"

	"github.com/buzon-go/buzon/retry"
)

// viewFiles holds, for each language, a layout and one view for each e-mail,
// each as HTML and as plain text.
//
//go:embed views
var viewFiles embed.FS

// language of the views.
const language = "es"

// A view renders the e-mail of one event from data of type D. Subject and text
// are composed by text/template, so that they hold no HTML entities.
type view[D any] struct {
	name string
	text *texttemplate.Template
	html *template.Template
}

// content is what a view renders.
type content struct{ subject, text, html string }

// newView reads a view, and executes it with samples that between them take
// every branch, so that a fault shows now.
func newView[D any](name string, samples ...D) (view[D], error) {
	folder := "views/" + language + "/"
	text, textErr := texttemplate.New("layout.txt").Option("missingkey=error").
		ParseFS(viewFiles, folder+"layout.txt", folder+name+".txt")
	html, htmlErr := template.New("layout.html").Option("missingkey=error").
		ParseFS(viewFiles, folder+"layout.html", folder+name+".html")
	if err := errors.Join(textErr, htmlErr); err != nil {
		return view[D]{}, fmt.Errorf("view %s: %w", name, err)
	}
	v := view[D]{name: name, text: text, html: html}
	for i, sample := range samples {
		if _, err := v.execute(sample); err != nil {
			return view[D]{}, fmt.Errorf("view %s: sample %d: %w", name, i+1, err)
		}
	}
	return v, nil
}

// render renders an e-mail. An error is the view's fault, and stays.
func (v view[D]) render(data D) (content, error) {
	c, err := v.execute(data)
	if err != nil {
		return content{}, retry.Permanent(fmt.Errorf("notify: view %s: %w", v.name, err))
	}
	return c, nil
}

// maxSubject is how much of a subject is kept, in characters; mail programs
// show about 60.
const maxSubject = 150

func (v view[D]) execute(data D) (content, error) {
	var subject, text, html strings.Builder
	err := errors.Join(
		v.text.ExecuteTemplate(&subject, "subject", data),
		v.text.Execute(&text, data),
		v.html.Execute(&html, data),
	)
	return content{subject: oneLine(subject.String(), maxSubject), text: text.String(), html: html.String()}, err
}
