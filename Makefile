# make          prints this list
# make run      sets up, builds, and shows UMA learning from wrong labels
# make test     sets up, then runs all tests, on OpenCL and on the plain engine
# make build    builds build/uma-gpu
# make lint     gofmt, vet, staticcheck
# make portable builds and tests without OpenCL, and the engines for processors without assembly and for old and new processors
# make race     the tests under the race detector
# make oclgrind the kernels in an interpreter that finds races, bad accesses, uninitialised reads
# make bench    benchmarks of all engines
# make fuzz     each fuzz target for FUZZTIME (1m)
# make weights  the experiment of docs/weights.md; DATA is the folder of its data sets
# make clean    removes build/

SHELL := /bin/sh
export CGO_ENABLED := 1
# OpenCL 1.2 is all that is used; the headers would ask.
export CGO_CFLAGS := -O2 -DCL_TARGET_OPENCL_VERSION=120
FUZZTIME ?= 1m
DATA ?=
STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.8.2

.PHONY: help deps build run test lint portable race oclgrind bench fuzz weights clean

help:
	@sed -n 's/^# \(make.*\)/\1/p' Makefile

deps:
	@.ci/install-deps

build: deps
	go build -o build/uma-gpu ./cmd/uma-gpu

run: build
	@sh testdata/demo.sh build/uma-gpu

# The second run has devices with little memory and small work groups.
test: deps
	go test ./...
	POCL_MEMORY_LIMIT=1 POCL_MAX_WORK_GROUP_SIZE=16 go test -run 'Conformance|MoreThanFits|Twin|Devices' ./gpu ./host ./cmd/uma-gpu

lint:
	@unformatted=$$(gofmt -l .); [ -z "$$unformatted" ] || { echo "gofmt would change: $$unformatted"; exit 1; }
	go vet ./...
	go run $(STATICCHECK) ./...
	CGO_ENABLED=0 go vet ./...

portable:
	CGO_ENABLED=0 go build ./...
	CGO_ENABLED=0 go test ./...
	go build -tags noopencl ./...
	for level in v1 v3; do GOAMD64=$$level CGO_ENABLED=0 go test ./cpuref/... ./host/numerics ./host/engine/... || exit 1; done
	CGO_ENABLED=0 go test -tags purego ./cpuref/simd
	GOARCH=arm64 CGO_ENABLED=0 go vet ./cpuref/...
	GOAMD64=v3 CGO_ENABLED=0 go test ./host/...

race: deps
	go test -race -short ./host/... ./cpuref/... ./internal/... ./learners/... ./cmd/...
	go test -race -run 'Conformance/.*/(as_opened|tiles)|Tiny' ./gpu

# oclgrind exits with 0 whatever it finds. Its search for uninitialised values
# knows no freeze instruction, which the optimiser makes.
oclgrind: deps
	@.ci/install-deps oclgrind
	@mkdir -p build
	go test -c -o build/gpu.test ./gpu
	@for mode in "" "--data-races" "--uninitialized --build-options -cl-opt-disable"; do \
		rm -f build/oclgrind.log; echo "oclgrind $$mode"; \
		(cd gpu && oclgrind $$mode --log ../build/oclgrind.log ../build/gpu.test -test.run TestTiny -test.v) || exit 1; \
		[ ! -s build/oclgrind.log ] || { head -n 40 build/oclgrind.log; exit 1; }; \
	done

bench: deps
	go test -run '^$$' -bench . ./gpu ./cpuref/...

fuzz:
	@for p in $$(go list ./...); do \
		for f in $$(go test -list '^Fuzz' $$p | grep '^Fuzz'); do \
			echo "$$p $$f"; go test -run '^$$' -fuzz "^$$f$$" -fuzztime $(FUZZTIME) $$p || exit 1; \
		done; \
	done

weights: deps
	@[ -n "$(DATA)" ] || { echo "say where the data sets lie: make weights DATA=DIR"; exit 1; }
	go run ./bench/weights -data "$(DATA)" -seeds 5

clean:
	rm -rf build
