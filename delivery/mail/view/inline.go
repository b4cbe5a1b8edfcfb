package view

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	texttemplate "text/template"
	"text/template/parse"

	"github.com/vanng822/go-premailer/premailer"
	"golang.org/x/net/html"
)

// inlined returns the source of one HTML template, made of several files: the
// templates that the first calls are put where they are called, and the rules of
// its style sheets where they apply.
//
// The inliner reads HTML, not templates. So each action stands aside meanwhile:
// a mark takes its place, which it gives back in the end.
func inlined(files Files, names ...string) (string, error) {
	set, err := parseText(files, names...)
	if err != nil {
		return "", err
	}
	marked, err := mark(set)
	if err != nil {
		return "", err
	}
	source, err := marked.document()
	if err != nil {
		return "", err
	}
	mailer, err := premailer.NewPremailerFromString(source, premailer.NewOptions())
	if err != nil {
		return "", err
	}
	styled, err := mailer.Transform()
	if err != nil {
		return "", err
	}
	return marked.restore(source, styled)
}

// A marker writes a template's source with marks in the place of its actions.
type marker struct {
	set     *texttemplate.Template
	word    string         // every mark is this, a number and "q"
	marks   *regexp.Regexp // matches a mark, in its comment if it has one
	html    strings.Builder
	actions []action
	calls   []string // the templates that are being put in, for loops
}

// An action is what a mark stands for.
type action struct {
	source string // {{.Brand.Name}}
	place  string // es/welcome.html:3:7
	role   role
	kept   bool // It was put back, or need not be: a rule that selects nothing goes, and its actions with it.
}

func (a action) String() string { return a.place + ": " + a.source }

// A role is what an action has to do with branches.
type role int

const (
	value   role = iota // nothing
	opens               // {{if}}, {{range}}, {{with}}
	divides             // {{else}}
	closes              // {{end}}
)

// mark marks a template. A text that looks like a mark asks for another word.
func mark(set *texttemplate.Template) (*marker, error) {
	for word := "bzq"; ; word += "q" {
		m := &marker{set: set, word: word, marks: regexp.MustCompile(`<!--` + word + `(\d+)q-->|` + word + `(\d+)q`)}
		if err := m.list(set.Root, 0); err != nil {
			return nil, err
		}
		text := strings.ToLower(html.UnescapeString(m.html.String()))
		if len(m.marks.FindAllString(text, -1)) == len(m.actions) {
			return m, nil
		}
	}
}

// list writes nodes. depth counts the ranges and withs around them, in which
// "." is not the page.
func (m *marker) list(list *parse.ListNode, depth int) error {
	if list == nil {
		return nil
	}
	for _, node := range list.Nodes {
		if err := m.node(node, depth); err != nil {
			return err
		}
	}
	return nil
}

func (m *marker) node(node parse.Node, depth int) error {
	switch n := node.(type) {
	case *parse.TextNode:
		m.html.Write(n.Text)
		return nil
	case *parse.IfNode:
		return m.branch("if", &n.BranchNode, depth, depth)
	case *parse.RangeNode:
		return m.branch("range", &n.BranchNode, depth, depth+1)
	case *parse.WithNode:
		return m.branch("with", &n.BranchNode, depth, depth+1)
	case *parse.TemplateNode:
		return m.call(n, depth)
	}
	m.mark(node, value, node.String())
	return nil
}

// branch writes an if, range or with; the depth is another one within its list.
func (m *marker) branch(keyword string, n *parse.BranchNode, depth, within int) error {
	m.mark(n, opens, "{{"+keyword+" "+n.Pipe.String()+"}}")
	if err := m.list(n.List, within); err != nil {
		return err
	}
	if n.ElseList != nil {
		m.mark(n.ElseList, divides, "{{else}}")
		if err := m.list(n.ElseList, depth); err != nil {
			return err
		}
	}
	m.mark(n, closes, "{{end}}")
	return nil
}

// call puts in the template that a {{template "x" .}} calls.
func (m *marker) call(n *parse.TemplateNode, depth int) error {
	called := m.set.Lookup(n.Name)
	switch {
	case called == nil || called.Tree == nil:
		return fmt.Errorf("%s: %s: there is no template of that name", m.place(n), n)
	case n.Pipe == nil || n.Pipe.String() != ".":
		return fmt.Errorf("%s: %s: only {{template %q .}} can be called in HTML", m.place(n), n, n.Name)
	case depth > 0:
		return fmt.Errorf("%s: %s: a template cannot be called within range or with in HTML", m.place(n), n)
	case slices.Contains(m.calls, n.Name):
		return fmt.Errorf("%s: %s: the template calls itself", m.place(n), n)
	}
	m.calls = append(m.calls, n.Name)
	defer func() { m.calls = m.calls[:len(m.calls)-1] }()
	if !declares(called.Root) {
		return m.list(called.Root, depth)
	}
	m.mark(n, opens, "{{if true}}") // What it declares ends with it.
	err := m.list(called.Root, depth)
	m.mark(n, closes, "{{end}}")
	return err
}

// declares reports whether a template has variables at its top level.
func declares(list *parse.ListNode) bool {
	return slices.ContainsFunc(list.Nodes, func(node parse.Node) bool {
		n, ok := node.(*parse.ActionNode)
		return ok && len(n.Pipe.Decl) > 0
	})
}

// place returns where a node stands: "es/welcome.html:3:7".
func (m *marker) place(node parse.Node) string {
	place, _ := m.set.ErrorContext(node)
	return place
}

// mark writes a mark. It is a word until [marker.document] has seen where it
// stands.
func (m *marker) mark(node parse.Node, role role, source string) {
	fmt.Fprintf(&m.html, "%s%dq", m.word, len(m.actions))
	m.actions = append(m.actions, action{source: source, place: m.place(node), role: role})
}

// marked returns the actions of the marks in a text.
func (m *marker) marked(text string) []*action {
	var all []*action
	for _, groups := range m.marks.FindAllStringSubmatch(text, -1) {
		i, _ := strconv.Atoi(groups[1] + groups[2]) // No text looks like a mark.
		all = append(all, &m.actions[i])
	}
	return all
}

// document returns the marked source. Marks in text are comments, which HTML
// allows where text would be moved, as between the rows of a table. What the
// inliner would make something else of is refused.
func (m *marker) document() (string, error) {
	var document strings.Builder
	var within nesting
	for _, p := range split(m.html.String()) {
		if err := errors.Join(m.check(p), within.follow(p, m.marked(p.raw))); err != nil {
			return "", err
		}
		if p.token.Type == html.TextToken && !slices.Contains(wordsOnly, p.element) {
			p.raw = m.marks.ReplaceAllString(p.raw, "<!--$0-->")
		}
		document.WriteString(p.raw)
	}
	return document.String(), within.end()
}

// wordsOnly are the elements in whose text there are no comments.
var wordsOnly = []string{"title", "textarea", "style", "script"}

// check refuses actions where the inliner would not know which rules apply, or
// what they are.
func (m *marker) check(p part) error {
	switch {
	case p.begins():
		return m.checkTag(p)
	case p.element == "style":
		return m.checkStyle(p.raw)
	}
	return nil
}

func (m *marker) checkTag(p part) error {
	faulty := m.marked(p.token.Data)
	for _, attribute := range p.token.Attr {
		faulty = append(faulty, m.marked(attribute.Key)...)
		if attribute.Key == "class" {
			faulty = append(faulty, m.marked(attribute.Val)...)
		}
	}
	if len(faulty) > 0 {
		return fmt.Errorf("%s: within a tag an action may stand in the value of an attribute other than class, and nowhere else", faulty[0])
	}
	return nil
}

var (
	// declarations matches "color: red;" in a style sheet.
	declarations = regexp.MustCompile(`([\w-]+\s*:)[^{};]*[;}]`)
	// pageField matches the actions of a style sheet.
	pageField = regexp.MustCompile(`^\{\{\$?(\.\w+)+\}\}$`)
	// atRules matches "@media". Of other rules of that kind the inliner loses
	// the name or the content.
	atRules = regexp.MustCompile(`@[\w-]+`)
)

func (m *marker) checkStyle(css string) error {
	for _, a := range m.marked(css) {
		if a.kept = true; a.role != value {
			return fmt.Errorf("%s: there are no branches in a style sheet", a)
		}
		if !pageField.MatchString(a.source) {
			return fmt.Errorf("%s: in a style sheet an action is a field of the page, such as {{.Brand.Primary}}", a)
		}
		// The rule may apply within a range, where "." is not the page.
		a.source = strings.Replace(a.source, "{{.", "{{$.", 1)
	}
	if elsewhere := m.marked(declarations.ReplaceAllString(css, "$1}")); len(elsewhere) > 0 {
		return fmt.Errorf("%s: within a style sheet an action may stand in the value of a property, and nowhere else", elsewhere[0])
	}
	for _, rule := range atRules.FindAllString(css, -1) {
		if rule != "@media" {
			return fmt.Errorf("%s: of such rules a style sheet may have @media alone", rule)
		}
	}
	return nil
}

// nesting are the elements and branches that are open, the innermost last:
// "<td>" and "es/welcome.html:3:7: {{if .Data.Code}}".
type nesting []string

// follow goes past a part of a document and the actions in it. Each branch must
// be whole, or else what parsers make of both together is not what they make of
// one.
func (n *nesting) follow(p part, actions []*action) error {
	tag := "<" + p.token.Data + ">"
	switch {
	case p.token.Type == html.ErrorToken:
		return fmt.Errorf("the HTML ends within %.40q", p.raw)
	case p.token.Type == html.EndTagToken && n.last() != tag:
		return fmt.Errorf("</%s> closes nothing that was opened in its branch; open is %s", p.token.Data, n.last())
	case p.token.Type == html.EndTagToken:
		*n = (*n)[:len(*n)-1]
	case p.token.Data == "style" && p.begins() && slices.ContainsFunc(*n, isBranch):
		return errors.New("<style> is in a branch, and its rules would apply without")
	case p.begins() && !slices.Contains(void, p.token.Data):
		*n = append(*n, tag)
	}
	for _, a := range actions {
		if (a.role == divides || a.role == closes) && !isBranch(n.last()) {
			return fmt.Errorf("%s: %s was opened in the branch that ends here, and is not closed", a, n.last())
		}
		switch a.role {
		case opens:
			*n = append(*n, a.String())
		case closes:
			*n = (*n)[:len(*n)-1]
		}
	}
	return nil
}

func (n *nesting) last() string {
	if len(*n) == 0 {
		return "nothing"
	}
	return (*n)[len(*n)-1]
}

func (n *nesting) end() error {
	if len(*n) > 0 {
		return fmt.Errorf("%s is not closed", n.last())
	}
	return nil
}

func isBranch(open string) bool { return strings.HasSuffix(open, "}}") }

// void are the elements that have no end (HTML Standard, section 13.1.2).
var void = []string{"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"}

// restore puts the actions back in their places. It refuses HTML that parsers
// mend, by moving a text out of a table or closing a paragraph, since what they
// mend between {{if}} and {{end}} would be wrong.
func (m *marker) restore(source, styled string) (string, error) {
	var restored strings.Builder
	before := slices.DeleteFunc(split(source), part.mayChange)
	for _, p := range split(styled) {
		switch {
		case p.mayChange():
		case len(before) > 0 && p.sign() == before[0].sign():
			before = before[1:]
		case p.isTagOf(implied...):
			continue
		default:
			return "", moved(p, before)
		}
		restored.WriteString(m.putBack(p))
	}
	if len(before) > 0 {
		return "", moved(before[0], before)
	}
	if i := slices.IndexFunc(m.actions, func(a action) bool { return !a.kept }); i >= 0 {
		return "", fmt.Errorf("%s stands where HTML allows no value", m.actions[i])
	}
	return restored.String(), nil
}

// implied are the elements that parsers add.
var implied = []string{"html", "head", "body", "tbody"}

func moved(p part, before []part) error {
	at := p.sign()
	if len(before) > 0 {
		at = before[0].sign()
	}
	return fmt.Errorf("the HTML is not well formed at or before %.60q: parsers would mend it", at)
}

// putBack returns a part with its actions, and <br> where the inliner has <br/>.
// Braces in text must not become an action.
func (m *marker) putBack(p part) string {
	if tag, found := strings.CutSuffix(p.raw, "/>"); found && p.isTagOf(void...) {
		p.raw = tag + ">"
	}
	if !slices.Contains([]string{"style", "script"}, p.element) {
		p.raw = strings.ReplaceAll(p.raw, "{", "&#123;")
	}
	return m.marks.ReplaceAllStringFunc(p.raw, func(mark string) string {
		a := m.marked(mark)[0]
		a.kept = true
		return a.source
	})
}

// A part of a document is a tag, a text or a comment. A last one with an
// ErrorToken is a tag that the document ends in.
type part struct {
	token   html.Token
	raw     string // as it is written
	element string // of a text, the one that began just before it
}

// begins reports whether a part is a tag that begins an element.
func (p part) begins() bool {
	return p.token.Type == html.StartTagToken || p.token.Type == html.SelfClosingTagToken
}

// isTagOf reports whether a part begins or ends one of some elements.
func (p part) isTagOf(elements ...string) bool {
	return (p.begins() || p.token.Type == html.EndTagToken) && slices.Contains(elements, p.token.Data)
}

// mayChange reports what the inliner may change, move or remove: white space
// and style sheets.
func (p part) mayChange() bool {
	return p.sign() == "" || p.element == "style" || p.isTagOf("style")
}

// sign returns what of a part stays as it is: the name of a tag, the words of a
// text.
func (p part) sign() string {
	switch p.token.Type {
	case html.StartTagToken, html.SelfClosingTagToken:
		return "<" + p.token.Data + ">"
	case html.EndTagToken:
		return "</" + p.token.Data + ">"
	case html.TextToken:
		return strings.Join(strings.Fields(p.token.Data), " ")
	case html.CommentToken:
		return p.raw
	}
	return ""
}

// split returns the parts of a document.
func split(document string) []part {
	var all []part
	element := ""
	for tokens := html.NewTokenizer(strings.NewReader(document)); ; {
		kind, raw := tokens.Next(), string(tokens.Raw())
		if raw == "" {
			return all
		}
		p := part{token: tokens.Token(), raw: raw}
		if kind == html.TextToken {
			p.element = element
		}
		if element = ""; p.begins() {
			element = p.token.Data
		}
		if all = append(all, p); kind == html.ErrorToken {
			return all
		}
	}
}
