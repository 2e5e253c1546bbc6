package app

import (
	"errors"
	"flag"
	"fmt"
	"math/big"
	"regexp"
	"strconv"

	"github.com/urfave/cli/v2"
)

// CountFlag is a flag whose value is a whole number, which may be written like 1e6. Mend makes one
// of every cli.IntFlag.
type CountFlag struct{ *cli.IntFlag }

// Apply makes the flag one of set.
func (f CountFlag) Apply(set *flag.FlagSet) error {
	into := f.Destination
	if into == nil {
		into = new(int)
	}
	*into = f.Value
	for _, name := range f.Names() {
		set.Var((*count)(into), name, f.Usage)
	}
	return nil
}

// count is the value of a countFlag.
type count int

func (n *count) String() string { return strconv.Itoa(int(*n)) }

// Get makes it a flag.Getter, which Context.Value wants.
func (n *count) Get() any { return int(*n) }

func (n *count) Set(text string) error {
	value, err := ParseCount(text)
	if err == nil {
		*n = count(value)
	}
	return err
}

// withExponent is a number such as 1e3 or 2.5e+4; more than 99 zeros are none.
var withExponent = regexp.MustCompile(`^-?[0-9]+(\.[0-9]+)?[eE]\+?[0-9]{1,2}$`)

// ParseCount reads a whole number, exactly.
func ParseCount(text string) (int, error) {
	if n, err := strconv.ParseInt(text, 0, strconv.IntSize); err == nil {
		return int(n), nil
	} else if errors.Is(err, strconv.ErrRange) {
		return 0, errLargeCount
	}
	if !withExponent.MatchString(text) {
		return 0, errNoCount
	}
	exact, _ := new(big.Rat).SetString(text)
	switch {
	case !exact.IsInt():
		return 0, fmt.Errorf("%s is %s; %w", text, exact.FloatString(2), errNoCount)
	case !exact.Num().IsInt64() || int64(int(exact.Num().Int64())) != exact.Num().Int64():
		return 0, errLargeCount
	}
	return int(exact.Num().Int64()), nil
}

var (
	errNoCount    = errors.New("wanted a whole number, such as 300 or 1e3")
	errLargeCount = errors.New("the number is too large")
)
