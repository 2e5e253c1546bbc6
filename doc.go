// Package umagpu learns from labels that are wrong. Train learns a model by a confusion matrix,
// P(noisy label | true class), EstimateNoise estimates the matrix, and Clean finds and corrects
// wrong labels. Each function takes one request, a struct whose zero values stand for defaults, and
// returns one result, which has the request. Errors are a *Fault.
//
// All may be called from several goroutines at once. Requests must not be changed before a call
// returns. A cancelled context ends it; Train then returns the model so far. Weights have the same
// bits on the processor and on OpenCL devices, which package gpu opens.
package umagpu

// Version of the module, which every model names.
const Version = "0.1.0"
