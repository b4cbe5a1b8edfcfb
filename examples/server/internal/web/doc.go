// Package web holds the pages of the sample server: users, jobs, deliveries and
// the inbox, in Spanish, rendered by the server, usable without a script. It
// asks nobody who they are; a host puts its authorisation in front of the pages
// that show or change jobs and deliveries.
package web
