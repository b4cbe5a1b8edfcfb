// Package view renders e-mails: a subject, a plain text and an HTML document,
// from typed data, in the identity of a brand and the language of a reader. It
// sends nothing, and it knows no kind of e-mail: a [View] is made of a host's or
// another package's template files.
//
// # Files
//
// A view called "welcome" is two files for each of its languages, named after
// the language:
//
//	es/welcome.html    defines title, preheader, content and reason
//	es/welcome.txt     defines subject, content and reason
//
// They are put into one layout, which every view shares: layout.html,
// layout.txt and, for its own few words, es/layout.txt. The library has a layout
// in Spanish, English and Portuguese. [Files] names where to look, in order, so
// that a host replaces a single file by having one of that name.
//
// HTML is written by html/template, which escapes what data holds; subject and
// text by text/template, so that they never hold an HTML entity. What templates
// see as "." is a [Page]. There are no functions beyond the standard ones and
// Page's methods: a template reads no environment and no file.
//
// # When faults show
//
// [New] executes a view in each of its languages, with the samples that it is
// given, each with a brand that has everything and one that has nothing but its
// name. A field that does not exist, HTML that is not well formed or a text that
// is missing is an error then, and not when an e-mail is due.
//
// # Style sheets
//
// Mail programs want their styles inline. Rules in the layout's <style> and the
// view's are moved to the elements that they select, once, when the view is
// made; what cannot be inline, such as @media, the only rule of its kind, stays.
// So an action may stand for the value of an attribute other than class and, in a
// style sheet, for a property's value; each branch of an {{if}} must be whole,
// and {{template "x" .}} stands outside of range and with. The brand's colours are
// template fields in the style sheet, so that nothing is inlined for a message.
package view
