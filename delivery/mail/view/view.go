package view

import (
	"context"
	"errors"
	"fmt"
	"html/template"
	netmail "net/mail"
	"strings"
	texttemplate "text/template"
)

// A View renders one kind of e-mail from data of type D. It is safe for
// concurrent use.
type View[D any] struct {
	name      string
	languages []string
	templates map[string]templates // by language
	samples   []D
}

// templates are a view's in one language.
type templates struct {
	text *texttemplate.Template
	html *template.Template
}

// Content is what a view renders.
type Content struct {
	Language string // of the view: "es"
	Subject  string // one line of plain text, of at most 150 characters
	Text     string
	HTML     string
}

// A Reader is for whom a view is rendered.
type Reader struct {
	// Name is how to address the reader. It is shown as [OneLine] leaves it;
	// empty means without a name.
	Name string
	// Languages are BCP 47 tags, such as "pt-BR", in the order of preference.
	// What is empty or malformed is passed over. Where the view has none of
	// them it is rendered in its first language, Spanish.
	Languages []string
}

const layoutName = "layout"

// New makes a view of its files, in every language that has one of them, and
// tries it with samples that between them should take every branch. The error
// joins every fault, and names file or sample.
func New[D any](files Files, name string, samples ...D) (*View[D], error) {
	v := &View[D]{name: name, templates: map[string]templates{}, samples: samples}
	languages, err := files.languages(name)
	switch {
	case err != nil:
		return nil, fmt.Errorf("view %s: %w", name, err)
	case len(languages) == 0:
		return nil, fmt.Errorf("view %s: there is neither es/%[1]s.html nor a file of it in another language's folder", name)
	case len(samples) == 0:
		return nil, fmt.Errorf("view %s: there is no sample to try it with", name)
	}
	var faults []error
	for _, language := range languages {
		if err := checkLanguage(language); err != nil {
			faults = append(faults, fmt.Errorf("view %s: %w", name, err))
			continue
		}
		parsed, err := read(files, language, name)
		if err != nil {
			faults = append(faults, fmt.Errorf("view %s in %s: %w", name, language, err))
			continue
		}
		v.languages = append(v.languages, language)
		v.templates[language] = parsed
		faults = append(faults, v.try(language))
	}
	if err := errors.Join(faults...); err != nil {
		return nil, err
	}
	return v, nil
}

// read reads a view's files and the layout's.
func read(files Files, language, name string) (templates, error) {
	words := language + "/" + layoutName + ".txt"
	text, textErr := parseText(files, layoutName+".txt", words, language+"/"+name+".txt")
	source, htmlErr := inlined(files, layoutName+".html", words, language+"/"+name+".html")
	if err := errors.Join(textErr, htmlErr); err != nil {
		return templates{}, err
	}
	html, err := template.New(name + ".html").Option("missingkey=error").Parse(source)
	return templates{text: text, html: html}, err
}

// parseText parses files into one set of templates; the first is the one to
// execute.
func parseText(files Files, names ...string) (*texttemplate.Template, error) {
	set := texttemplate.New(names[0]).Option("missingkey=error")
	for i, name := range names {
		source, err := files.read(name)
		if err != nil {
			return nil, err
		}
		target := set
		if i > 0 {
			target = set.New(name)
		}
		if _, err := target.Parse(source); err != nil {
			return nil, err
		}
	}
	return set, nil
}

// try executes a view with every sample, with and without what is optional.
func (v *View[D]) try(language string) error {
	full, bare := SampleBrand(), Brand{Name: "Club", From: netmail.Address{Address: "hola@club.example"}}
	for i, sample := range v.samples {
		for _, brand := range []Brand{full, bare} {
			for _, reader := range []string{"Ana", ""} {
				content, err := v.execute(context.Background(), language, must(ParseLocale(language)), brand, reader, sample)
				if err == nil {
					err = content.check()
				}
				if err != nil {
					return fmt.Errorf("view %s in %s: sample %d: %w", v.name, language, i+1, err)
				}
			}
		}
	}
	return nil
}

// check refuses what no reader should get.
func (c Content) check() error {
	var faults []error
	if c.Subject == "" {
		faults = append(faults, errors.New("the subject is empty"))
	}
	if strings.TrimSpace(c.Text) == "" {
		faults = append(faults, errors.New("the text is empty"))
	}
	// What html/template writes for a value that has no place where it stands.
	if strings.Contains(c.HTML, "ZgotmplZ") {
		faults = append(faults, errors.New("the HTML holds a value where html/template allows none, such as a text in a style or a link"))
	}
	return errors.Join(faults...)
}

// Name returns the view's name.
func (v *View[D]) Name() string { return v.name }

// Languages returns the view's languages, the first of which is the fallback.
func (v *View[D]) Languages() []string { return v.languages }

// Samples returns the data that the view was tried with.
func (v *View[D]) Samples() []D { return v.samples }

// Render renders an e-mail. The brand must be valid. Where a template panics,
// writes more than a megabyte, or goes on when ctx has ended, that is an error.
func (v *View[D]) Render(ctx context.Context, brand Brand, reader Reader, data D) (Content, error) {
	language, locale := Match(v.languages, reader.Languages...)
	content, err := v.execute(ctx, language, locale, brand, OneLine(reader.Name, MaxName), data)
	if err != nil {
		return Content{}, fmt.Errorf("view %s in %s: %w", v.name, language, err)
	}
	return content, nil
}

// maxSubject is how much of a subject is kept, in characters; mail programs
// show about 60.
const maxSubject = 150

func (v *View[D]) execute(ctx context.Context, language string, locale Locale, brand Brand, recipient string, data D) (content Content, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("it panicked: %v", p)
		}
	}()
	page := Page[D]{Locale: locale, Brand: brand.Look(), Recipient: recipient, Data: data}
	subject, text, html := output{ctx: ctx}, output{ctx: ctx}, output{ctx: ctx}
	parsed := v.templates[language]
	err = errors.Join(
		parsed.text.ExecuteTemplate(&subject, "subject", page),
		parsed.text.Execute(&text, page),
		parsed.html.Execute(&html, page),
	)
	return Content{Language: language, Subject: OneLine(subject.String(), maxSubject), Text: text.String(), HTML: html.String()}, err
}

// maxOutput bounds what a template writes, in bytes.
const maxOutput = 1 << 20

// An output is where a template writes: not without end, and not for nobody.
type output struct {
	ctx     context.Context
	written strings.Builder
}

func (o *output) Write(p []byte) (int, error) {
	if err := o.ctx.Err(); err != nil {
		return 0, err
	}
	if o.written.Len()+len(p) > maxOutput {
		return 0, fmt.Errorf("it writes more than %d bytes", maxOutput)
	}
	return o.written.Write(p)
}

func (o *output) String() string { return o.written.String() }
