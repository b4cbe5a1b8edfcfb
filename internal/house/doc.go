// Package house holds the tests of the rules that no single package can keep:
// who imports whom, that each package says what it promises, and that the
// README's code is compiled. It holds no code.
package house
