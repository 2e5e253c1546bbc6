package app

import "strings"

// Group is what stands together in a help text.
type Group struct {
	heading string
	Members string // their names, separated by spaces
}

// CommandGroups are the commands by what one wants to do.
var CommandGroups = []Group{
	{"Learn", "train bootstrap query calibrate"},
	{"Judge and choose", "eval cv compare report inspect verify"},
	{"Doubt labels", "issues confusion"},
	{"Predict", "predict serve export import"},
	{"Data", "info split convert synth"},
	{"Kernel functions", "kpca kernelmean compress"},
	{"Devices", "devices doctor bench"},
	{"Learners", "learners"},
	{"This program", "version completion man"},
}

// FlagGroups are the flags by what they are about, whatever the command. A new flag is a word
// here.
var FlagGroups = []Group{
	{"Data", `data format label-column ignore-columns id-column header separator decimal labels
		x-name y-name zero-based storage max-errors trust-data skip-bad no-labels categories levels
		text text-features text-min-df text-ngrams missing unseen encoding match-features normalize validate stream
		features classes examples labelled unlabelled
		pool show show-file pictures fractions counts synthetic use-clean npz`},
	{"Label noise", `confusion confusion-axes inverse annotators trust table clean prior probabilities method pooled
		pairwise symmetric random`},
	{"Model", "model resume from basis temperature atoms atom-choice atom-weights atom-error"},
	{"Learner", "learner max-steps weights seed temperature-folds steps rounds-of-labels"},
	{"Kernel", `kernel gamma coef0 degree components variance landmarks landmark-choice kernel-memory
		normalize-components`},
	{"Trials", "retrain folds seeds try grid judge repeat top"},
	{"Questions", "answers k strategy committee diversity balance slack sampler session"},
	{"Device", "device shares max-alloc memory-limit no-bounds audit allow-nonconforming"},
	{"Server", "listen max-rows max-body concurrency drain time-limit"},
	{"Output", `out to proba scores checkpoint every history report profile picture dir clean-by write-clean
		write-confusion write-labels write-labelled axes markdown dry-run json verbose quiet`},
}

// groupOf returns the heading of the group that has a name, "" if none has.
func groupOf(name string, groups []Group) string {
	for _, g := range groups {
		for _, member := range strings.Fields(g.Members) {
			if member == name {
				return g.heading
			}
		}
	}
	return ""
}
