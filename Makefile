# make prints the targets. DATA is the folder of the data sets that docs/learners.md names.
help:
	@sed -n 's/^\([a-z-]*\):.* ## /\1: /p' Makefile

.PHONY: $(shell sed -n 's/^\([a-z-]*\):.*/\1/p' Makefile)

SHELL := /bin/sh
export CGO_ENABLED := 1
# OpenCL 1.2 is all that is used; the headers would ask.
export CGO_CFLAGS := -O2 -DCL_TARGET_OPENCL_VERSION=120
FUZZTIME ?= 1m
KILLS ?= 100
RUNS ?= 300
SEED ?= 0
comma := ,
STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.8.2

say:
	@[ -x build/uma-gpu ] || echo "builds build/uma-gpu: packages, then a C compiler; a minute or two the first time"

deps:
	@mkdir -p build
	@.ci/install-deps

# The targets that need data sets.
data:
	@[ -n "$(DATA)" ] || { echo "say where the data sets lie: make $(MAKECMDGOALS) DATA=DIR"; exit 1; }

build: deps ## builds build/uma-gpu
	go build -o build/uma-gpu ./cmd/uma-gpu

# What is built is not built again: sudo make install needs no Go.
PREFIX ?= /usr/local
DESTDIR ?=
SHARE = $(DESTDIR)$(PREFIX)/share
build/uma-gpu:
	$(MAKE) build

install: build/uma-gpu ## puts program, manual page and completions below PREFIX (/usr/local), in DESTDIR; make uninstall
	install -d $(DESTDIR)$(PREFIX)/bin $(SHARE)/man/man1 $(SHARE)/bash-completion/completions \
		$(SHARE)/zsh/vendor-completions $(SHARE)/fish/vendor_completions.d
	install -m 755 build/uma-gpu $(DESTDIR)$(PREFIX)/bin/uma-gpu
	build/uma-gpu man >$(SHARE)/man/man1/uma-gpu.1
	build/uma-gpu completion bash >$(SHARE)/bash-completion/completions/uma-gpu
	build/uma-gpu completion zsh >$(SHARE)/zsh/vendor-completions/_uma-gpu
	build/uma-gpu completion fish >$(SHARE)/fish/vendor_completions.d/uma-gpu.fish
	chmod 644 $(SHARE)/man/man1/uma-gpu.1

uninstall:
	rm -f $(DESTDIR)$(PREFIX)/bin/uma-gpu $(SHARE)/man/man1/uma-gpu.1 \
		$(SHARE)/bash-completion/completions/uma-gpu $(SHARE)/zsh/vendor-completions/_uma-gpu \
		$(SHARE)/fish/vendor_completions.d/uma-gpu.fish

deb: build ## a Debian package of it, in build/
	@.ci/install-deps dpkg-dev
	rm -rf build/deb
	$(MAKE) install DESTDIR=build/deb PREFIX=/usr
	strip build/deb/usr/bin/uma-gpu
	packaging/deb.sh build/deb build

deb-check: deb ## installs the package in a new Debian, uses it there and removes it; as root
	@.ci/install-deps debootstrap
	packaging/deb-check.sh build/uma-gpu_*.deb build/chroot

completion: build ## types into bash, zsh and fish, in tmux, and looks what they complete
	@.ci/install-deps zsh fish tmux
	packaging/completion-check.sh build/uma-gpu

run: say build ## sets up, builds, and shows learning from wrong labels
	@sh testdata/demo.sh build/uma-gpu

# go test vets each package unless told not to: lint does, and more of it.
test: deps ## sets up, then runs all tests, on OpenCL and on the plain engine
	@.ci/install-deps python3-numpy
	go test -vet=off -timeout 20m ./...
	cd bench && go test -vet=off ./...

# PYTEST="-k kill" runs some of it; PYTHON_KILLS is the number of killed workers, EVERY=1 checks more learners.
python-test: build ## the Python package by Debian's scikit-learn and pandas: estimators, functions, processes
	@.ci/install-deps python3-sklearn python3-pandas python3-pytest jupyter-nbconvert python3-ipykernel mypy
	mypy --strict --ignore-missing-imports python/src/umagpu
	KILLS=$(PYTHON_KILLS) EVERY=$(EVERY) /usr/bin/python3 -W ignore -m pytest -q -p no:cacheprovider python/tests $(PYTEST)
PYTHON_KILLS ?= 5

python-current: build ## the same by the scikit-learn of Debian's sid, in build/sid; as root
	@.ci/install-deps debootstrap
	EVERY=$(EVERY) packaging/python-current.sh build/sid $(PYTEST)

wheel: deps ## the wheel of the Python package, with the program in it, in build/
	go build -trimpath -buildvcs=false -ldflags '-s -w -buildid=' -o build/wheel/uma-gpu ./cmd/uma-gpu
	/usr/bin/python3 packaging/wheel.py build/wheel/uma-gpu linux_$$(uname -m) build

# A new environment with Debian's scikit-learn, no network, and the example of the page.
wheel-check: wheel ## installs the wheel in a new environment by pip, without a network, and uses it
	@.ci/install-deps python3-pandas python3-sklearn python3-venv unshare
	packaging/wheel-check.sh build/umagpu-*.whl build/wheel/venv

# Its version is app.Version; SIGN=KEY signs the checksums. release-check takes some minutes: nothing is cached.
release: deps ## archives, wheels, the Debian package, checksums, licences and a bill of materials, in build/release
	@.ci/install-deps dpkg-dev gcc-aarch64-linux-gnu libc6-dev-arm64-cross
	rm -rf build/release
	packaging/release.sh build/release

release-check: ## builds build/release again elsewhere, compares the bytes, and runs what this machine can
	@.ci/install-deps dpkg-dev gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user unzip
	packaging/release-check.sh build/release build/release-again

vulnerabilities: ## known vulnerabilities of what the program calls, by govulncheck
	go run golang.org/x/vuln/cmd/govulncheck@v1.1.4 ./...

# Devices with little memory and small work groups.
small: deps ## the suite on devices with little memory and small work groups
	POCL_MEMORY_LIMIT=1 POCL_MAX_WORK_GROUP_SIZE=16 go test -vet=off -run 'Conformance/.*/(as_opened|as_on_a_GPU|tiles)|MoreThanFits|Twin|Devices' ./gpu ./host ./cmd/uma-gpu

# A mutant is a program to compile, and there are 220: four minutes with an empty cache of kernels.
mutants: deps ## all broken kernels have to fail the conformance suite or the self-test: make test tries a sample
	go test -vet=off -timeout 20m -run '^TestMutants|^TestSelfTestRefuses$$' ./gpu -all

# Minutes: all mutants are in one program. MUTANTS=sheets tries the mutants of that name.
mutants-readers: deps ## all broken readers have to fail the tests of host/dataset/file
	go test -vet=off -count=1 -timeout 4h -v -run '^TestReaderMutants$$' ./host/dataset/file -mutants '$(or $(MUTANTS),.)'

# docs/devices.md has the figures. NVIDIA's assembler, of Debian's nvidia-cuda-toolkit (non-free), is asked if it is on PATH.
gpu-compilers: deps ## the compilers of GPUs by Intel and AMD on all kernels: registers, spills, local memory, fma of inner loops
	@.ci/install-deps clang-15 clang-16 libclc-15 intel-opencl-icd
	go test -vet=off -count=1 -v -tags compilers -run '^TestCompilers$$' ./gpu

# Change a learner: run these.
every: deps ## every learner on every engine: make test leaves most out
	go test -vet=off -run '^(TestEveryLearner|TestOtherParameters)$$' ./learners/catalog -every

shards: deps ## the whole suite, and every learner, on several engines and ranks as one, cut anyhow
	go test -vet=off -count=1 -timeout 1h ./host/engine/shard -args -all

# Debian's two MPI lie side by side: a build names the one it takes (pkg-config), and is started by its own mpirun.
MPI ?= openmpi
MPI_TAGS := mpi$(if $(filter mpich,$(MPI)),$(comma)mpich)
# Looked for by the shell, when what a recipe needs has been installed.
MPIRUN = $$(command -v mpirun.$(MPI) || echo mpirun) $(if $(filter openmpi,$(MPI)),--oversubscribe --allow-run-as-root)
MPI_PACKAGES := $(if $(filter mpich,$(MPI)),mpich libmpich-dev,openmpi-bin libopenmpi-dev)
mpi: deps ## tests on three ranks of Open MPI, or with MPI=mpich of MPICH, on this machine; mpi-short and mpi-kills too
	@.ci/install-deps $(MPI_PACKAGES)
	go test -vet=off -tags $(MPI_TAGS) -c -o build/mpi.test ./host/engine/shard/mpi
	$(MPIRUN) -n 3 build/mpi.test
	go test -vet=off -count=1 -tags $(MPI_TAGS) -run '^TestRank' ./cmd/uma-gpu

# What every change is tested by, in fifteen seconds.
mpi-short: deps ## some of it, as every change is
	@.ci/install-deps $(MPI_PACKAGES)
	go test -vet=off -tags $(MPI_TAGS) -c -o build/mpi.test ./host/engine/shard/mpi
	$(MPIRUN) -n 3 build/mpi.test
	go build -tags $(MPI_TAGS) -o build/uma-gpu-mpi ./cmd/uma-gpu
	build/uma-gpu-mpi synth --quiet --examples 9000 --features 6 --classes 3 --out build/mpi-short.csv
	build/uma-gpu-mpi train --quiet --data build/mpi-short.csv --learner uma --max-steps 8 --model build/mpi-one.npz
	$(MPIRUN) -n 3 build/uma-gpu-mpi train --quiet --data build/mpi-short.csv \
		--learner uma --max-steps 8 --model build/mpi-three.npz
	cmp build/mpi-one.npz build/mpi-three.npz
	ldd build/uma-gpu-mpi | grep -q libmpi
	go build -o build/uma-gpu ./cmd/uma-gpu # without the tag nothing of MPI is linked
	! ldd build/uma-gpu | grep libmpi

slurm: deps ## trains on a Slurm that it starts on this machine, on two ranks; as root
	@.ci/install-deps openmpi-bin libopenmpi-dev slurmctld slurmd slurm-client munge
	go build -tags mpi -o build/uma-gpu-mpi ./cmd/uma-gpu
	packaging/slurm/check.sh build/uma-gpu-mpi

container: ## the image of packaging/container, by podman, on systems made by debootstrap; as root
	@.ci/install-deps podman buildah debootstrap
	packaging/container/check.sh

mpi-kills: deps ## KILLS (100) kills of random ranks, and trainings that go on on other numbers of ranks
	@.ci/install-deps $(MPI_PACKAGES)
	go test -vet=off -count=1 -v -timeout 2h -tags $(MPI_TAGS) -run '^TestRanksKills$$' ./cmd/uma-gpu -kills $(KILLS) -random-seed $(SEED)

# Random, by a seed that is printed and given again with SEED; of LEARNERS alone if given.
kills: deps ## KILLS (100) kills of trainings on each device, which go on from their checkpoints, of all LEARNERS
	go test -vet=off -count=1 -v -timeout 2h -run '^TestKills$$' ./cmd/uma-gpu -kills $(KILLS) -random-seed $(SEED) -random-learners '$(LEARNERS)'

hostile: deps ## every damaged file, every command with one bad file or in bad surroundings; make test tries a part
	go test -vet=off -count=1 -v -timeout 1h -run '^TestHostile|^TestFilesAreProtected$$' ./cmd/uma-gpu -hostile 3

# Half an hour: each OpenCL call of short runs fails, once and for good; then bits turn, and what --audit sees of it;
# and eight processes at a time find an empty folder of compiled kernels.
faults: deps ## OpenCL calls that fail, each one of short runs, bits that turn on a device, and races for compiled kernels
	go test -vet=off -count=1 -v -timeout 1h -run '^TestEightProcesses$$' ./gpu -rounds 20
	go test -vet=off -count=1 -v -timeout 3h -run '^TestFaults$$|^TestTurnedBits$$' ./cmd/uma-gpu -faults 0 -flips 200

writes: build ## each system call that writes fails, in every command that writes files: all outputs or none
	@.ci/install-deps strace
	bench/writes.sh build/uma-gpu build/writes

testing: build ## docs/testing.md: runs what build/testing lacks (hours; CHECKS="fuzz kills" runs these), then writes the page
	bench/testing.sh build/testing $(CHECKS)
	bench/testing.sh page build/testing docs/testing.md >build/testing.md
	cp build/testing.md docs/testing.md

beyond: build ## trains from a .npy of SIZE (2000) megabytes in a fifth of that memory, converts a CSV of half; as root
	sh bench/beyond.sh build/uma-gpu $(or $(BEYOND),build/beyond) $(or $(SIZE),2000)

# Tables with malformed and unlabelled rows, and the same without: by a seed that is printed.
rows: deps ## PROGRAMS (1000) random uses of row numbers, on tables with odd rows and without them
	go test -vet=off -count=1 -v -timeout 2h -run '^TestRows$$' ./cmd/uma-gpu -programs $(or $(PROGRAMS),1000) -random-seed $(SEED)

metamorphic: deps ## RUNS (300) trainings with options that must not change a byte of the model
	go test -vet=off -count=1 -v -timeout 2h -run '^TestMetamorphic$$' ./cmd/uma-gpu -runs $(RUNS) -random-seed $(SEED) -random-learners '$(LEARNERS)'

# Without cgo, and for newer processors, where Go fuses multiplications and additions: all is compiled once for both.
NO_CGO := CGO_ENABLED=0 GOAMD64=v3

lint: ## gofmt, vet, staticcheck
	@unformatted=$$(gofmt -l .); [ -z "$$unformatted" ] || { echo "gofmt would change: $$unformatted"; exit 1; }
	go vet ./...
	go run $(STATICCHECK) ./...
	cd bench && go vet ./... && go run $(STATICCHECK) ./...
	$(NO_CGO) go vet ./...
	go vet -tags purego ./cpuref/simd
	go vet -tags compilers ./gpu

# Without cgo the tests of bench and gpu are others, and what cmd says of devices; host and cpuref follow for what Go
# fuses, which nothing that reads files does; all else has no cgo in it, and is as in make test.
WITHOUT_CGO := Device|OpenCL|Auto|DryRun|Usage|Help|Version|Bench|Train$$|TrainSameBytes|Predict$$|Eval$$|Demo|Issues$$|Compare$$
FILES := Read|Write|Parquet|NPZ|Binary|Damage|Context|Flipped
# FMA is an instruction on Arm, which Debian's qemu emulates.
ON_ARM := GOARCH=arm64 CGO_ENABLED=0 go test -vet=off -exec qemu-aarch64
portable: ## builds and tests without OpenCL, and the engines for processors without assembly and for old and new processors
	$(NO_CGO) go build ./...
	$(NO_CGO) go test -vet=off -short ./gpu/...
	cd bench && $(NO_CGO) go test -vet=off -short ./...
	$(NO_CGO) go test -vet=off -short -run '$(WITHOUT_CGO)' ./cmd/...
	$(NO_CGO) go test -vet=off -short -skip '$(FILES)' ./cpuref/... ./host/...
	$(NO_CGO) go test -vet=off -tags purego ./cpuref/simd
	go build -tags noopencl ./...
	@.ci/install-deps qemu-user
	GOARCH=arm64 CGO_ENABLED=0 go vet ./cpuref/...
	$(ON_ARM) -run 'FMA|Dot|SelfTest' ./host/numerics ./host/engine ./cpuref
	$(ON_ARM) -run 'Conformance$$/NEON|^Test(EvaluationMutants|Dense|Sparse|Weighted|ColumnSums|Product)' ./cpuref/simd

# The detector makes all slower by 5 to 20 times, and looks for nothing but goroutines that meet: here are the
# tests where some do, and the packages that have such tests. make race RACES=. RACES_GPU=. RACED=./... has all.
RACES := OutOfFoldSameBits|CrowdSameBits|Together|Interrupt|Stopped|Cancel|Context|Close|ProcessorsChange|ManyExamples|ManyLabels|Conformance$$|ReadFiles|BinaryPacked|PackedAndPiped|OutOfFoldAll|ChainsStayInside|TestEveryLearner/^(softmax|uma)$$/two_runs_at_once
RACES_GPU := Conformance/.*/as_opened|Conformance/.*/streamed/.*walk|Scratch|Together|TestFailed|CloseUnderWay
RACED := $(addprefix ./,host host/confusion host/dataset/... host/engine/audit host/kernel/... cpuref/... learners/softmax learners/catalog)
race: deps ## the tests under the race detector
	go test -vet=off -race -short ./internal/parallel ./internal/memory ./internal/osfile
	go test -vet=off -race -short -run '$(RACES)' $(RACED)
	go test -vet=off -race -short -run '$(RACES_GPU)' ./gpu

oclgrind: deps ## the kernels in an interpreter that finds races, bad accesses, uninitialised reads
	@.ci/install-deps oclgrind
	.ci/oclgrind

bench: deps ## benchmarks of the engines
	go test -run '^$$' -bench . ./gpu ./host/engine/enginetest

# Debian's Python, which has Debian's numpy. Interrupted, it goes on from build/peers/results.json. A selection, as
# PEERS="--sets letter,20news --rivals uma-gpu,sgd", leaves its page in build/peers. torch is measured if python3-torch is there.
FASHION := /usr/share/datasets/fashion-mnist
bench-peers: build data ## uma-gpu beside scikit-learn, scipy and torch on eleven sets; writes docs/performance.md
	@.ci/install-deps python3-numpy python3-scipy python3-sklearn libopenblas0-pthread dataset-fashion-mnist
	/usr/bin/python3 bench/peers/measure.py build/uma-gpu $(FASHION) "$(DATA)" build/peers $(PEERS)
	/usr/bin/python3 bench/peers/page.py build/peers/results.json > build/peers/performance.md
	@[ -n "$(PEERS)" ] || { cp build/peers/performance.md docs/performance.md && mv build/peers/results.json build/peers/last.json; }

# An hour, of five draws; interrupted, it goes on from build/tables.
tables: build papers data ## published tables of other papers beside uma-gpu on the same files; writes docs/tables.md
	@.ci/install-deps python3-numpy python3-scipy python3-sklearn
	/usr/bin/python3 -W ignore bench/tables.py build/uma-gpu "$(DATA)" build/tables $(TABLES) > build/tables.md
	@[ -n "$(TABLES)" ] || cp build/tables.md docs/tables.md

tables-quick: ## the same of one draw and less rows, to build/tables.md: some minutes
	$(MAKE) tables TABLES="--seeds 1 --rows 3000"

# PREPARED is a folder of sets as bench/peers/prepare.py writes them; CLEAN="--sets adult,car" measures some,
# CLEAN="--found FOLDER --checked 0 --seeds 1" the tables that "Rscript bench/peers/found.R FOLDER" writes.
bench-clean: build data ## the command clean beside scikit-learn and cleanlab's rule, on tables with wrong labels
	@.ci/install-deps python3-numpy python3-scipy python3-sklearn
	/usr/bin/python3 -W ignore bench/peers/clean.py build/uma-gpu "$(DATA)" build/clean $(CLEAN)

# TREES="--sets churn --draws 1" measures some, TREES=--speed seconds.
bench-trees: build data ## trees beside scikit-learn's and xgboost's on tables whose confusion matrix is known
	@.ci/install-deps python3-numpy python3-scipy python3-sklearn python3-pandas python3-xgboost
	/usr/bin/python3 -W ignore bench/trees.py $(if $(filter --speed,$(TREES)),,"$(DATA)" build/trees) $(TREES)

CARRY := build/bench-gpu
bench-gpu-build: deps ## what bench-gpu runs, as build/bench-gpu.tar.gz, for a machine without Go
	SMALL=$(SMALL) bench/gpu/build.sh $(CARRY) "$(DATA)"

bench-gpu: bench-gpu-build ## tests and measures a GPU; writes docs/gpu.md. SMALL=1: small sizes on any OpenCL device, to build/
	SMALL=$(SMALL) $(CARRY)/run.sh build/bench-gpu-results
	@[ -n "$(SMALL)" ] || cp build/bench-gpu-results/gpu.md docs/gpu.md

# Without DATA, on the digits that are in the repository.
same-bits: build ## the same weights in every way of bench/same-bits.sh, on Arm too
	@.ci/install-deps qemu-user
	CGO_ENABLED=0 GOARCH=arm64 go build -o build/uma-gpu-arm64 ./cmd/uma-gpu
	ARM64=build/uma-gpu-arm64 sh bench/same-bits.sh build/uma-gpu $(or $(DATA),testdata digits)

fuzz: deps ## each fuzz target for FUZZTIME (1m)
	.ci/fuzz build/$@ $(FUZZTIME)

# Nothing is minimised, so that a short run always takes the same time.
fuzz-short: deps ## each fuzz target for 1s, as every change is
	.ci/fuzz build/$@ 1s -test.fuzzminimizetime 0s

# What build/learners.jsonl has is not measured again: an interrupted run goes on.
learners: build data ## the tables of docs/learners.md: nine ways to train on ten sets, and on three that people labelled
	/usr/bin/python3 bench/learners.py build/uma-gpu "$(DATA)" build/learners.jsonl learners

learner-bits: build ## the SHA-256 of the weights of every learner, engine, storage and kernel, a line each
	@bench/every-learner-bits.sh build/uma-gpu testdata/digits.csv.gz


size: deps ## how large the project is: lines, packages, flags, methods, the files that a training passes through
	cd bench && go build -o ../build/size ./size
	build/size

online: build data ## the tables of docs/online.md on wrong labels and on classes of different sizes
	python3 bench/online.py build/uma-gpu "$(DATA)" noise
	python3 bench/online.py build/uma-gpu "$(DATA)" imbalance

# The runtime's own scripts would fetch what GPUs need.
exports: build data ## what ONNX Runtime (from npm) predicts by exported models
	@.ci/install-deps python3-onnx nodejs npm
	@[ -d build/node_modules/onnxruntime-node ] || npm install --prefix build --ignore-scripts onnxruntime-node@1.20.1
	sh bench/exports/exports.sh build/uma-gpu "$(DATA)" build/node_modules

pictures: build ## the pictures of docs/ that show a page of uma-gpu report, by headless Chromium
	@.ci/install-deps chromium python3-pil
	bench/pictures.sh build/uma-gpu testdata/digits.csv.gz docs

# What is not run, and why, is in cmd/uma-gpu/docsrun_test.go, and said.
docs: deps ## every command of README and docs/, by a shell, and what they show as output, with DATA or without
	@.ci/install-deps python3-numpy curl $(if $(DATA),python3-sklearn)
	go test -vet=off -count=1 -v -timeout 1h -run '^TestDocs' ./cmd/uma-gpu -docs -docs-data '$(if $(DATA),$(abspath $(DATA)))'

# The page of uma-gpu report in headless Chromium; screenshots go to build/page.
page: build ## a page of uma-gpu report in headless Chromium: it must be sound; screenshots in build/page
	@.ci/install-deps chromium
	bench/page.sh build/uma-gpu testdata/digits.csv.gz build/page

# It needs no server: its search is a file beside the pages.
site: ## docs/ as a web site with a home page and a search, build/site/index.html
	@.ci/install-deps chromium furo python3-myst-parser python3-sphinx-copybutton
	rm -rf build/site build/site-pages
	mkdir -p build/site-pages
	cp docs/* packaging/site/* build/site-pages
	/usr/bin/python3 -m sphinx -q -W -b html build/site-pages build/site
	packaging/site/check.sh build/site

# What build/estimates.jsonl has is not measured again.
estimates: build data ## estimates of C on ten sets and three noises, and crowds: the tables of docs/confusion.md
	@.ci/install-deps python3-numpy python3-scipy
	/usr/bin/python3 -W ignore bench/estimates.py build/uma-gpu "$(DATA)" build/estimates.jsonl

papers: deps ## builds build/papers, which repeats the experiments of the papers
	cd bench && go build -o ../build/papers ./papers

# Four minutes on two cores.
reproduce-quick: papers ## the toy experiments of the papers and, with DATA, its table on two small sets
	for e in fig1a fig1b copa; do build/papers $$e -quiet -out build/$$e.jsonl || exit 1; done
	@[ -z "$(DATA)" ] || build/papers table1 -data-dir "$(DATA)" -sets digits,reuters -runs 3 \
		-quiet -out build/table1.jsonl

weights: build data ## the variants of UMA beside each other: the table of docs/weights.md
	/usr/bin/python3 bench/learners.py build/uma-gpu "$(DATA)" build/weights.jsonl weights

clean: ## removes build/
	rm -rf build
