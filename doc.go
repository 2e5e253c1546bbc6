// Package umagpu learns from labels that are wrong: Train learns a model, given how they are wrong,
// Clean finds and corrects wrong labels, and EstimateNoise estimates how they are wrong. Each
// function takes one request, a struct whose zero values stand for defaults, and returns one
// result, which has the request. Errors are a *Fault.
//
// The noise is a confusion matrix, P(noisy label | true class). The weights have the same bits on
// every engine: the processor, which is the default, and OpenCL devices (package gpu), which are
// linked only into programs that import them.
//
// Functions may be called from several goroutines at once, and so may all methods of one Model.
// Requests are only read, but must not be changed before the call returns. A cancelled context ends
// each call; Train then returns the model so far (see TrainResult.Interrupted).
package umagpu

// Version of the module, which every model names.
const Version = "0.1.0"
