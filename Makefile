# The commands of this project. `make help` lists them.

GO      ?= go
NPM     ?= npm
GOFLAGS_BUILD := -ldflags='-s -w'
BINARY  := bin/simulator

# Every command below compiles Kubernetes with the same flags, so it is compiled once. Without
# debug information that takes a sixth less time. Nothing here needs C, and without cgo every
# binary links faster; only the race detector needs it.
# gRPC's own traces, which nothing here shows, keep the linker from leaving out what no code calls.
OUR_FLAGS := -gcflags=all=-dwarf=false -tags=grpcnotrace
export GOFLAGS := $(strip $(filter-out $(OUR_FLAGS),$(GOFLAGS)) $(OUR_FLAGS))
export CGO_ENABLED ?= 0

# Not ./...: npm packages bring Go files of their own.
PACKAGES := ./scheduler/... ./simulator/... ./web

WEB_SOURCES := $(shell find web/src web/public web/index.html web/package.json web/vite.config.ts web/vite.report.config.ts web/tsconfig*.json -type f 2>/dev/null)

.DEFAULT_GOAL := help
.PHONY: help run build kubectl-why why-release compile test test-all check-web check-go test-go test-race test-measured test-random test-cluster fuzz test-web \
  test-e2e test-e2e-all test-e2e-pages test-e2e-measured test-e2e-scale test-code test-live \
  random-suggestions random-counts random-claims random-packages judge-plugins judge-kueue env bench lint lint-web lint-go vet staticcheck generate chromium clean

help: ## list the commands
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / {printf "  make %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

run: build ## build everything and serve on http://127.0.0.1:1212
	$(BINARY)

# go build sets a new date even if the program did not change. Go reuses the result of a test that runs
# the program only while its date stays the same, so this rule restores the date.
define GO_BUILD
@dated=$$(mktemp); trap 'rm -f "$$dated"' EXIT; \
id=$$($(GO) tool buildid $(1) 2>/dev/null) && touch -r $(1) "$$dated"; \
echo $(GO) build $(GOFLAGS_BUILD) -o $(1) $(2); $(GO) build $(GOFLAGS_BUILD) -o $(1) $(2) || exit; \
[ "$$id" != "$$($(GO) tool buildid $(1))" ] || touch -r "$$dated" $(1)
endef

build: web/dist/index.html ## build bin/simulator, the web application included
	$(call GO_BUILD,$(BINARY),./simulator/cmd/simulator)

kubectl-why: ## build bin/kubectl-why, the plugin for kubectl
	$(call GO_BUILD,bin/kubectl-why,./simulator/cmd/kubectl-why)

# Each platform compiles all of the scheduler again, which takes minutes.
WHY_VERSION ?= v0.1.0
WHY_RELEASES ?= https://example.com/kubectl-why/$(WHY_VERSION)
WHY_PLATFORMS := linux-amd64 linux-arm64 darwin-amd64 darwin-arm64 windows-amd64 windows-arm64
why-release: $(WHY_PLATFORMS:%=bin/kubectl-why-release/%) ## build kubectl-why for six platforms, with archives and Krew's manifest for WHY_VERSION
	$(GO) run ./simulator/deploy/krew --dir bin/kubectl-why-release --version $(WHY_VERSION) --from $(WHY_RELEASES)

.PHONY: $(WHY_PLATFORMS:%=bin/kubectl-why-release/%)
$(WHY_PLATFORMS:%=bin/kubectl-why-release/%): bin/kubectl-why-release/%:
	GOOS=$(word 1,$(subst -, ,$*)) GOARCH=$(word 2,$(subst -, ,$*)) $(GO) build -trimpath $(GOFLAGS_BUILD) -o $@/ ./simulator/cmd/kubectl-why

# The schedulers of other versions of Kubernetes; see package scheduler/versions. Each compiles its version's scheduler, which takes up to ten
# minutes once. The version of this program itself needs no go.mod of its own.
SCHEDULERS := 1.34 1.35 1.36 1.37
comma := ,
schedulers: $(SCHEDULERS:%=scheduler-%) ## build bin/scheduler-1.34 to 1.37, the schedulers of those versions of Kubernetes; scheduler-1.35 builds one

.PHONY: schedulers test-versions $(SCHEDULERS:%=scheduler-%)
$(SCHEDULERS:%=scheduler-%): scheduler-%:
	$(call GO_BUILD,bin/scheduler-$*,$(if $(wildcard scheduler/versions/kubernetes-$*.mod),-modfile=scheduler/versions/kubernetes-$*.mod -tags=grpcnotrace$(comma)kubernetes$(subst .,,$*)) ./scheduler/versions/scheduler)

# The tests of the schedulers of other versions skip themselves elsewhere, because they need all of them.
test-versions: build schedulers ## the schedulers of Kubernetes 1.34 to 1.37 against each other: what is known to differ, and what must not
	SCHEDULERS_DIR=$(abspath bin) OPENB=$(OPENB) $(GO) test -vet=off -timeout 60m -ldflags='-s -w' -count 1 ./scheduler/versions ./simulator/questions/upgrade
	SCHEDULERS_DIR=$(abspath bin) $(GO_TEST) -count 1 -run '^TestPages$$/^before-an-upgrade$$' ./simulator/docs

# Two tiers: `test` is for every change, `test-all` adds the slow checks and those that rarely fail.
# Every check is in at least one of them.
#
# make builds and checks the web application while Kubernetes compiles. The browser
# tests run last and have the machine to themselves.
test: ## check everything that ordinary changes break, and install what the checks need
	@$(MAKE) --no-print-directory -j 3 check-web check-go
	@$(MAKE) --no-print-directory test-e2e

# test-all has two halves, which machines can share. What is late on a busy machine comes after what fills it. test-versions compiles the
# schedulers of four versions of Kubernetes, up to ten minutes each, once.
test-all: ## check the rest: test-code, test-live, then test-versions
	@$(MAKE) --no-print-directory test-code
	@$(MAKE) --no-print-directory test-live
	@$(MAKE) --no-print-directory test-versions

test-code: ## the half of test-all that fills the processors: races, vet, staticcheck, fuzzing, random clusters
	@$(MAKE) --no-print-directory test-race
	@$(MAKE) --no-print-directory vet
	@$(MAKE) --no-print-directory staticcheck
	@$(MAKE) --no-print-directory fuzz
	@$(MAKE) --no-print-directory random-packages

test-live: build chromium ## the half that waits for control planes and browsers: kills, crowds, a soak, every browser test
	@$(MAKE) --no-print-directory test-cluster
	@$(MAKE) --no-print-directory test-e2e-pages
	@$(MAKE) --no-print-directory test-measured
	@$(MAKE) --no-print-directory test-e2e-measured
	@$(MAKE) --no-print-directory test-e2e-scale

check-web: chromium lint-web test-web

check-go: compile web/dist/index.html
	@$(MAKE) --no-print-directory lint-go test-go

# Compiling Kubernetes does not need the web application. No package here may embed it, because it is built meanwhile.
compile:
	$(GO) build ./scheduler/... ./simulator/cluster/controlplane/...

# The tests from the outside use the program that users run. Control planes wait half
# of the time, so three packages at a time keep two processors busy. Without symbols and
# DWARF, the linker takes half the time. With a cold cache
# vet reads all of Kubernetes' source, so test-all vets.
GO_TEST := SIMULATOR_BIN=$(abspath $(BINARY)) KUBECTL_WHY_BIN=$(abspath bin/kubectl-why) $(GO) test -vet=off -timeout 60m -ldflags='-s -w'

# Each of these packages links the API server, or all of kube-controller-manager, for a few
# tests of what few changes touch. test-cluster tests them.
RARE_PACKAGES := $(addprefix kube-scheduler-simulator/simulator/,bench command cluster/controlplane/controllers/kubecontrollers/upstreamtest \
  cluster/controlplane/external examples/plugin elsewhere/mirror elsewhere/transfer/roundtrip)

# The tests from the outside take longest and wait most of that time, so they begin first.
LONGEST_PACKAGE := kube-scheduler-simulator/simulator/testing/systemtest
longest-first = $(LONGEST_PACKAGE) $(filter-out $(LONGEST_PACKAGE),$(1))

test-go: build kubectl-why ## Go tests except the slow and the rare, without the race detector
	$(GO_TEST) -short -p 3 $(call longest-first,$(filter-out $(RARE_PACKAGES),$(shell $(GO) list $(PACKAGES))))

# The packages whose tests link the API server or kube-controller-manager, and those
# whose tests start the program. With the race detector they would take most of an
# hour, so only the application's tests of concurrency run with it.
CLUSTER_PACKAGES = $(sort $(shell $(GO) list -test -f '{{.ImportPath}} {{.Deps}}' $(PACKAGES) | \
  sed -nE 's@^([^ ]*)\.test .* k8s.io/kubernetes/cmd/kube-(apiserver|controller-manager)/app .*@\1@p') \
  $(shell $(GO) list ./simulator/testing/systemtest ./simulator/docs ./simulator/deploy/... ./simulator/examples/...))

# They wait most of the time, so three packages run at a time.
test-cluster: build kubectl-why ## every Go test that needs a control plane or kube-controller-manager
	$(GO_TEST) -p 3 -skip '$(MEASURED)' $(call longest-first,$(CLUSTER_PACKAGES))

# These tests measure time: how long a question or a run takes, and how long a client waits beside hostile ones.
MEASURED := ^(TestSearchIsFast|TestSearchForRejectedNodesIsFastOnManyNodes|TestQuestionsTakeNoMoreThanTheirProcessorTime|TestWhyOfTenThousandPods|TestSessionThroughput|$\
  TestTenExpectationsTakeTwoSeconds|TestHalfRequestsAreBounded|TestSlowlorisWithFewFiles|TestStalledExportsAreBounded|TestBombsAreBounded|$\
  TestBombsOnEveryRoute|TestBombsWithin|TestRunsEndWhenTold|TestStopsDuringAttacks)$$

# The tests with random clusters, in the number that each test names, without the race
# detector. test-race runs fewer with it, and test-go the fewest.
RANDOM_PACKAGES := $(addprefix kube-scheduler-simulator/,scheduler scheduler/claims scheduler/recorder/comparison scheduler/whatif/fit \
  simulator/autoscaling/dryrun simulator/questions/deschedule simulator/questions/drain)
random-packages: web/dist/.gitkeep
	$(GO_TEST) -p 2 -skip '$(MEASURED)' $(RANDOM_PACKAGES)

# The same comparisons in thousands of clusters, for a change of the recorder, of the questions, or
# of Kubernetes' version. Each target computes on one processor: run `make -j 2 test-random`.
test-random: random-hypotheses-1 random-hypotheses-1001 random-suggestions random-counts random-claims ## hypotheses, suggestions, counts and statements against the scheduler itself, in thousands of random clusters

random-hypotheses-%: web/dist/.gitkeep
	$(GO_TEST) -run '^TestHypothesesAgreeWithDecisions$$' ./scheduler -hypotheses 1000 -seed $*

random-suggestions: web/dist/.gitkeep
	$(GO_TEST) -run '^TestSuggestionsHoldForReal$$' ./scheduler/whatif/fit -clusters 200

random-counts: web/dist/.gitkeep
	$(GO_TEST) -run '^TestCountsHoldForReal$$' ./scheduler/whatif/capacity -clusters 500

random-claims: web/dist/.gitkeep
	$(GO_TEST) ./scheduler/claims -clusters 2000 -scenes 700

# The originals of our scheduler plugins are in no program of ours, so the comparison with them is a module of its own. It compiles
# a copy that adapt makes for our version of Kubernetes. JUDGE has flags, such as -seed 1000 -quotas 200, or -run '^TestGangs$$'.
JUDGE ?=
judge-plugins: ## Coscheduling, CapacityScheduling and NodeResourceTopologyMatch against the originals, in random scenarios
	mkdir -p bin/judge
	cd scheduler/plugins/judge && $(GO) run ./adapt $(abspath bin/judge) && \
	  $(GO) test -modfile $(abspath bin/judge)/go.mod -vet=off -timeout 60m -ldflags='-s -w' -count 1 -v . $(JUDGE)

# Kueue itself, as a process of its own beside a simulator, against the built-in queues. JUDGE has flags here, too, such as
# -seed 1000 -scenarios 30, or -run '^TestWrites$$'.
judge-kueue: build ## the built-in queues against Kueue itself, in random scenarios
	mkdir -p bin/judge-kueue
	cd simulator/batch/kueue/judge && \
	  $(GO) test -vet=off -timeout 120m -ldflags='-s -w' -count 1 -v . -dir $(abspath bin/judge-kueue) -simulator $(abspath $(BINARY)) $(JUDGE)

test-measured: build kubectl-why ## the Go tests that measure, which need an idle machine
	$(GO_TEST) -p 1 -run '$(MEASURED)' ./scheduler ./scheduler/resultstore $(LONGEST_PACKAGE)

test-race: export GORACE := atexit_sleep_ms=0
test-race: export CGO_ENABLED := 1
test-race: web/dist/.gitkeep ## every other Go test, and the tests of concurrency, with the race detector
	$(GO_TEST) -race -p 2 -skip '$(MEASURED)' $(filter-out $(CLUSTER_PACKAGES) $(RANDOM_PACKAGES),$(shell $(GO) list $(PACKAGES)))
	$(GO_TEST) -race -p 2 -short $(RANDOM_PACKAGES)
	$(GO_TEST) -race -run '^(TestConcurrent|TestOneOperation|TestStopLeavesNothing|TestARecordingIsReplayed)' ./simulator/app

# Not `go test -fuzz`: it would recompile all of Kubernetes to count coverage in it.
# This recompiles only our own packages.
# Go's fuzzing reports "context deadline exceeded" if its time ends in the middle of
# an input. That is not a failure: it writes every failing input to a file.
FUZZTIME ?= 10s
FUZZTESTS := $(shell grep -rE --include='*_test.go' '^func Fuzz' scheduler simulator | sed -E 's|/[^/]*:func (Fuzz[A-Za-z0-9_]*).*|:\1|')
fuzz: ## Go's own fuzzing, FUZZTIME (10s) for each of the fuzz tests
	@set -e; work=$$(mktemp -d); trap 'rm -rf "$$work"' EXIT; export work; \
	$(GO) test -c -o "$$work/" -gcflags='kube-scheduler-simulator/...=-d=libfuzzer' \
	  $(addprefix ./,$(sort $(foreach test,$(FUZZTESTS),$(firstword $(subst :, ,$(test)))))); \
	printf '%s\n' $(FUZZTESTS) | xargs -P 2 -n 1 sh -c 'package=$${1%:*}; name=$${1#*:}; out="$$work/$$name.out"; \
	  (cd "$$package" && "$$work/$${package##*/}.test" -test.run "^$$" -test.parallel 1 -test.fuzz "^$$name\$$" -test.fuzztime $(FUZZTIME) \
	    -test.fuzzminimizetime 1x -test.fuzzcachedir "$$work/corpus/$$package") >"$$out" 2>&1 \
	    || { ! grep -q "Failing input" "$$out" && grep -q "^ *context deadline exceeded" "$$out"; } \
	    || { echo "$$package $$name"; cat "$$out"; exit 1; }; \
	  echo "$$package $$name: $$(sed -n "s/^fuzz: elapsed: [^,]*, \(execs.*\)/\1/p" "$$out" | tail -n 1)"' fuzz

test-web: web/node_modules/.package-lock.json ## unit tests of the web application
	cd web && $(NPM) test

test-e2e: build chromium ## browser tests of the main paths, against the real binary
	cd web && $(NPM) run e2e

test-e2e-all: build chromium ## every browser test
	cd web && $(NPM) run e2e:all

# The halves of test-e2e-all: what shows, and what takes time or space.
test-e2e-pages: build chromium
	cd web && $(NPM) run e2e:pages

test-e2e-measured: build chromium
	cd web && $(NPM) run e2e:measured

test-e2e-scale: build chromium ## browser tests with 5,000 nodes and 10,000 pods
	cd web && $(NPM) run e2e:scale

env: ## print the settings with which go uses what make has compiled
	@echo "export GOFLAGS='$(GOFLAGS)' CGO_ENABLED=$(CGO_ENABLED)"

# The directory with nodes.csv and pods.csv of the trace openb (cluster-trace-gpu-v2023).
OPENB ?=
bench: build ## compare bare with recorded scheduling under every load, measure a large import, and run the trace in OPENB
	$(BINARY) bench --table
	$(BINARY) bench --import --nodes 5000 --pods 20000
	@if [ -n "$(OPENB)" ]; then $(BINARY) bench --openb "$(OPENB)"; \
	  else echo "skipped the production cluster: set OPENB to the directory with nodes.csv and pods.csv of the trace openb"; fi

lint: lint-web lint-go vet ## formatting, vet, types and import directions

lint-web: web/node_modules/.package-lock.json
	cd web && $(NPM) run lint && $(NPM) run typecheck

lint-go:
	@unformatted=$$(gofmt -l scheduler simulator web/*.go); \
	  if [ -n "$$unformatted" ]; then echo "not formatted with gofmt:"; echo "$$unformatted"; exit 1; fi

vet: web/dist/.gitkeep
	$(GO) vet $(PACKAGES)

# With a cold cache it reads all of Kubernetes' source.
staticcheck: web/dist/.gitkeep ## a stronger linter than vet
	$(GO) tool staticcheck $(PACKAGES)

generate: web/node_modules/.package-lock.json ## regenerate the generated code
	cd web && $(NPM) run generate
	$(GO) test -vet=off -ldflags='-s -w' -run '^TestDefinitionsOfModules$$' ./simulator/cluster/definitions -update

clean: ## remove everything that was built
	rm -rf bin web/node_modules
	find web/dist -mindepth 1 ! -name .gitkeep -delete

web/node_modules/.package-lock.json: web/package-lock.json
	cd web && $(NPM) ci --no-audit --no-fund
	@touch $@

web/dist/index.html: web/node_modules/.package-lock.json $(WEB_SOURCES)
	cd web && $(NPM) run build
	@touch $@

# The browser tests drive an installed Chromium: $$CHROMIUM_PATH, or Debian's headless shell, which this
# rule installs if it has the permissions. The shell takes half the processor time of the whole browser.
chromium:
	@test -x "$${CHROMIUM_PATH:-/usr/bin/chromium-headless-shell}" || \
	  { apt-get update -qq && apt-get install -y -qq --no-install-recommends chromium-headless-shell fonts-noto-cjk >/dev/null; } || \
	  { echo "the browser tests need Chromium: install it and set CHROMIUM_PATH"; exit 1; }
