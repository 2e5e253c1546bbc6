package quote

// Option returns "--header", or "--header=no" if a value is advised.
func Option(name string, value ...string) string {
	name = "--" + name
	for _, v := range value {
		name += "=" + v
	}
	return name
}
