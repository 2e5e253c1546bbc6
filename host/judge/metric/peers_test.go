package metric

import "testing"

// What scikit-learn 1.2.1 finds for the labels of peerLabels, by f1_score, balanced_accuracy_score
// and cohen_kappa_score of sklearn.metrics:
//
//	t = [(i * i // 7) % 4 for i in range(60)]
//	p = [(i * i // 7 + (i % 3 == 0) * (i // 5)) % 4 for i in range(60)]
//
// and with p = [4 if x == 3 else x for x in p]: class 4 never occurs, class 3 is never predicted.
var peers = []struct {
	classes                int
	f1                     []float64
	macro, balanced, kappa float64
}{
	{4, []float64{0.7906976744186046, 0.7272727272727272, 0.6666666666666667, 0.7826086956521738},
		0.7418114410025431, 0.7675031969309463, 0.6580547112462006},
	{5, []float64{0.7906976744186046, 0.7272727272727272, 0.6666666666666667, 0, 0},
		0.43692741367159976, 0.5800031969309463, 0.47901591895803197},
}

func peerLabels(classes int) (truth, predicted []int32) {
	for i := range int32(60) {
		t := i * i / 7
		p := t
		if i%3 == 0 {
			p += i / 5
		}
		if p %= 4; p == 3 && classes == 5 {
			p = 4
		}
		truth, predicted = append(truth, t%4), append(predicted, p)
	}
	return truth, predicted
}

func TestEvaluateLikeScikitLearn(t *testing.T) {
	for _, want := range peers {
		truth, predicted := peerLabels(want.classes)
		// A class that neither occurs nor is predicted is no part of a mean.
		for _, more := range []int{0, 1} {
			r, err := Evaluate(truth, predicted, make([]string, want.classes+more))
			if err != nil {
				t.Fatal(err)
			}
			near(t, "macro F1", r.MacroF1, want.macro)
			near(t, "balanced accuracy", r.BalancedAccuracy, want.balanced)
			near(t, "kappa", *r.Kappa, want.kappa)
			for k, f1 := range want.f1 {
				near(t, "F1", *r.PerClass[k].F1, f1)
			}
			if more > 0 && r.PerClass[want.classes].F1 != nil {
				t.Errorf("F1 of a class that is not there: %v", *r.PerClass[want.classes].F1)
			}
		}
	}
	r, err := Evaluate([]int32{0, 0}, []int32{0, 0}, []string{"a", "b"})
	if err != nil || r.Kappa != nil { // scikit-learn's nan
		t.Errorf("kappa %v, %v, wanted none", r.Kappa, err)
	}
}
