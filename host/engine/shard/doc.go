// Package shard makes one engine of several: of the OpenCL devices and the processor of a
// machine ([New]), and of those of many machines ([Ranks]). The examples are cut in as many
// consecutive shards as there are engines; each loads its own. What is asked of the
// whole is asked of all at once, and their answers are put together. Class sums, weighted sums,
// counts and losses are integers, and each score belongs to one example, so the answers have the
// bits that any of the engines would give alone: clauses 3, 5, 14 and 16 of package contract
// leave nothing to where the examples are cut, as long as the fixed-point format is that of the
// whole and evaluations are cut between blocks of 256. Who uses the engine need not know.
//
// A ranks.Reducer joins the machines. If each rank has a part of the examples
// ([dataset.Stored]), its engines take that part.
package shard
