package app

import (
	"slices"
	"strconv"

	"github.com/urfave/cli/v2"
)

// ChoiceFlag is a flag with a declared list of values.
type ChoiceFlag struct {
	*cli.StringFlag
	Allowed []string
}

// Choice returns a flag that has only the allowed values, and the one in its place if it is not
// given.
func Choice(into *string, name, value, usage string, allowed ...string) cli.Flag {
	return ChoiceFlag{&cli.StringFlag{Name: name, Value: value, Usage: usage, Destination: into},
		allowed}
}

// check returns a usage error if the value is none of the allowed.
func (f ChoiceFlag) check(c *cli.Context) error {
	value := c.String(f.Name)
	if value == f.Value && !c.IsSet(f.Name) || slices.Contains(f.Allowed, value) {
		return nil
	}
	return NotAllowed(f.Name, value, f.Allowed...)
}

// RangeFlag is a flag whose value is a whole number in a range.
type RangeFlag struct {
	CountFlag
	Least, Most int
}

// Range returns a flag for whole numbers from least to most, math.MaxInt for no limit.
func Range(f *cli.IntFlag, least, most int) cli.Flag { return RangeFlag{CountFlag{f}, least, most} }

// check returns a usage error if the value was given and is out of range.
func (f RangeFlag) check(c *cli.Context) error {
	value := c.Int(f.Name)
	if !c.IsSet(f.Name) || value >= f.Least && value <= f.Most {
		return nil
	}
	wanted := "at least " + strconv.Itoa(f.Least)
	if f.Most < 1<<31-1 {
		wanted = strconv.Itoa(f.Least) + " to " + strconv.Itoa(f.Most)
	}
	return Usage("--%s is %d, wanted %s", f.Name, value, wanted)
}

// checkedFlag is a flag that declares its values.
type checkedFlag interface {
	cli.Flag
	check(c *cli.Context) error
}

// Required marks a flag that a command needs, and returns it.
func Required(f cli.Flag) cli.Flag {
	*required(f) = true
	return f
}

// required returns the mark of Required, nil for a flag that cannot have it.
func required(f cli.Flag) *bool {
	switch f := f.(type) {
	case *cli.StringFlag:
		return &f.Required
	case InputFlag:
		return &f.Required
	case OutputFlag:
		return &f.Required
	case InputsFlag:
		return &f.Required
	case OutputsFlag:
		return &f.Required
	case RangeFlag:
		return &f.Required
	}
	return nil
}

// takeRequired returns the names of the required flags. It takes the marks away: the cli package
// would print the help text as well.
func takeRequired(flags []cli.Flag) (names []string) {
	for _, f := range flags {
		if mark := required(f); mark != nil && *mark {
			*mark = false
			names = append(names, f.Names()[0])
		}
	}
	return names
}

// checkRequired returns a usage error if one of these flags is not given, or empty.
func checkRequired(c *cli.Context, names []string) error {
	for _, name := range names {
		if text, isText := c.Value(name).(string); !c.IsSet(name) && !isText || isText && text == "" {
			return Missing(name)
		}
	}
	return nil
}
