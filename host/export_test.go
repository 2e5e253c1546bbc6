package host

// Now is the clock of Options.Time.
var Now = &now
