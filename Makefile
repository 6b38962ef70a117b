# The commands of this project. `make help` lists them.

GO      ?= go
NPM     ?= npm
GOFLAGS_BUILD := -ldflags='-s -w'
BINARY  := bin/simulator
# Not ./...: npm packages bring Go files of their own.
PACKAGES := ./scheduler/... ./simulator/... ./web

WEB_SOURCES := $(shell find web/src web/public web/index.html web/package.json web/vite.config.ts web/tsconfig*.json -type f 2>/dev/null)

.DEFAULT_GOAL := help
.PHONY: help run build web test test-go fuzz test-web test-e2e bench lint generate chromium clean

help: ## list the commands
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / {printf "  make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

run: build ## build everything and serve on http://127.0.0.1:1212
	$(BINARY)

build: web/dist/index.html ## build bin/simulator, the web application included
	$(GO) build $(GOFLAGS_BUILD) -o $(BINARY) ./simulator/cmd/simulator

test: lint test-web test-go fuzz test-e2e ## run every check there is, installing what it needs

# Tests of the program from the outside run the one that users get. Control planes
# wait half of their time: three packages at a time use two processors.
test-go: build ## Go tests, with the race detector
	SIMULATOR_BIN=$(abspath $(BINARY)) GORACE=atexit_sleep_ms=0 $(GO) test -race -p 3 -timeout 40m $(PACKAGES)

# Not `go test -fuzz`: it would compile all of Kubernetes again to count coverage in
# it. Here only our own packages are, and the rest is what is compiled already.
# Go's fuzzing says "context deadline exceeded" when its time is over in the middle
# of an input: that is no failure, an input that failed is written down.
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

test-e2e: build chromium ## browser tests against the real binary
	cd web && $(NPM) run e2e

bench: build ## compare bare with recorded scheduling at 100, 1,000 and 5,000 nodes
	$(BINARY) bench --table

lint: web/node_modules/.package-lock.json web/dist/.gitkeep ## formatting, vet, types and import directions
	@unformatted=$$(gofmt -l scheduler simulator web/*.go); \
	  if [ -n "$$unformatted" ]; then echo "not formatted with gofmt:"; echo "$$unformatted"; exit 1; fi
	$(GO) vet -race $(PACKAGES)
	cd web && $(NPM) run lint && $(NPM) run typecheck

generate: web/node_modules/.package-lock.json ## write the generated code anew
	$(GO) generate $(PACKAGES)
	cd web && $(NPM) run generate

clean: ## remove what was built
	rm -rf bin web/node_modules
	find web/dist -mindepth 1 ! -name .gitkeep -delete

web/node_modules/.package-lock.json: web/package-lock.json
	cd web && $(NPM) ci --no-audit --no-fund
	@touch $@

web/dist/index.html: web/node_modules/.package-lock.json $(WEB_SOURCES)
	cd web && $(NPM) run build
	@touch $@

# The browser tests drive a Chromium that is installed: $$CHROMIUM_PATH, or
# Debian's package, which is installed here when it may be.
chromium:
	@test -x "$${CHROMIUM_PATH:-/usr/bin/chromium}" || \
	  { apt-get update -qq && apt-get install -y -qq --no-install-recommends chromium fonts-noto-cjk >/dev/null; } || \
	  { echo "the browser tests need Chromium: install it and set CHROMIUM_PATH"; exit 1; }
