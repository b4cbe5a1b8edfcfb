// Package ticketpdf draws the tickets of a purchase into one PDF, a page for
// each, and joins PDFs that a host has finished. What it returns is valid,
// opens without a password, and is the same for the same input: an e-mail that
// is sent again has the attachment that it had before. It knows neither
// languages nor tickets: all texts come in words, ready to be read.
//
// # The page
//
// A4, portrait. A band in the brand's colour has the logo, or else the name,
// and the note. Under it stand the heading, the lines, then the fields in two
// columns beside the QR code, which is 50 mm wide at least, and the footer.
//
// Nothing runs out of its place. Text is wrapped; what is too long even so gets
// a smaller font, and then ends in "…". The code alone is always printed whole.
//
// # Characters
//
// The fonts have Latin, Greek and Cyrillic script, with punctuation and
// currency signs. Text is normalised to NFC. Emoji, and characters that are not
// seen, are left out; any other that the fonts lack is drawn as "□". That goes
// for every script that runs from right to left, too, so that none comes out
// reversed. The QR code holds the code as it was given.
package ticketpdf
