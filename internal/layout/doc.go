// Package layout has the tests of what holds for the project as a whole: who imports whom,
// how many methods a type has, how wide lines are, what wrappers spell, and that the program of
// docs/library.md works.
package layout
