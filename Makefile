# Targets for building, testing and running bagtrail. Most need Go alone; docs/contributing.md says what
# the others need. `make help` lists the targets.

GOLANGCI_LINT_VERSION = v2.15.0

# gin has a codec for MessagePack, which bagtrail does not use. Without it, the program is 6 MB smaller,
# and less is compiled.
export GOFLAGS := -tags=nomsgpack $(GOFLAGS)

# UNIT leaves out the packages whose tests drive whole programs or other servers. internal/web is
# first, since its tests wait for the limits of connections, half a minute.
UNIT = ./internal/web $$(go list ./... | grep -v '^bagtrail/test/')

# AT_ONCE runs more packages at a time than there are processors, since the long ones wait.
AT_ONCE = -p 4

.DEFAULT_GOAL := help
.PHONY: help run demo build image test check lint race bench rejects departures benchmarks fuzz airports quickstart screenshots chaos budget convergence truth servers ci clean

help: ## show this list
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | expand -t 14

# The shell's job control keeps Ctrl-C from make, which would report it as an error.
run: build ## run everything in one process, with nothing installed
	@if [ -t 0 ]; then set -m; fi; ./bagtrail serve; exit $$?

demo: build ## play the simulated traffic of an airport, with the console
	@if [ -t 0 ]; then set -m; fi; ./bagtrail serve --demo; exit $$?

build: ## build ./bagtrail, stamped with its version
	CGO_ENABLED=0 go build -buildvcs=auto -o bagtrail .

image: ## build the container image bagtrail (needs Docker, GO_IMAGE=… instead of golang)
	docker build -t bagtrail -f deploy/Dockerfile $(if $(GO_IMAGE),--build-arg GO_IMAGE=$(GO_IMAGE)) .

test: ## run all tests that need nothing installed
	go test $(AT_ONCE) ./test/hostile ./test/blackbox ./...

check: lint ## formatting, vet, linters, unit tests, direction of imports
	go test $(AT_ONCE) $(UNIT)
	go test -count=1 ./test/arch # it reads files that the test cache does not watch

lint: ## formatting, vet and linters only
	@unformatted=$$(gofmt -l .); test -z "$$unformatted" || { echo "not gofmt-clean:"; echo "$$unformatted"; exit 1; }
	.ci/golangci-lint $(GOLANGCI_LINT_VERSION) run --allow-parallel-runners ./...

# Packages that drive other processes are left out: the detector sees only the test process. So is
# test/oracle, which runs in one goroutine. Fewer packages run at a time than without the detector, so
# that the tests of stores keep to their deadline of a second.
race: export CGO_ENABLED = 1
race: ## run all tests that run in their own process under the race detector
	go test -race -vet=off -p 3 -timeout 20m $(UNIT) ./test/convergence

bench: ## measure the promises of docs/performance.md against their references
	go run ./test/bench $(BENCH)

rejects: ## time lists and summaries of a million rejected messages on a Redis server, and kill a process that resubmits 100,000, about five minutes
	go test -run '^$$' -bench ManyRejects -benchtime 50x -timeout 20m ./internal/rejectstore -rejects 1000000
	go test -run Kill9 -count=1 -v -timeout 20m ./test/bulk -rejects 100000

departures: ## print how long others wait while 100,000 bags depart at once, about two minutes (BAGS=10000 for less)
	go test -run '^$$' -bench Departures -benchtime 1x -timeout 20m ./internal/changefeed -departures $(or $(BAGS),100000)

benchmarks: ## run the Go benchmarks of all packages
	go test -run '^$$' -bench . -benchmem ./...

fuzz: ## fuzz every fuzz test, FUZZTIME each (default 20s)
	.ci/fuzz $(or $(FUZZTIME),20s)

airports: ## regenerate the airport library from its sources
	go generate ./enricher/airport

quickstart: ## run the commands of the README's quick start
	BAGTRAIL_TEST_QUICKSTART=1 go test -count=1 -v ./test/quickstart

screenshots: ## make the pictures of the console in the README (needs the network the first time: Debian, npm)
	.ci/steps/60-browser -run Screenshots -images $(CURDIR)/docs/images

chaos: ## kill, freeze and restart everything on real servers, at full size, one to two hours (CHAOS="-kills 20 …" for less)
	servers="$$(.ci/servers up)" && eval "$$servers" && BAGTRAIL_TEST_REQUIRE_REAL=1 go test -count=1 -timeout 12h -v ./test/chaos -full $(CHAOS)

budget: ## send the 1,000 costliest messages that the limits allow to an ingest with 256 MiB, and print how soon others are found (Redis takes 3 GiB)
	go test -count=1 -timeout 1h -v ./test/budget -messages $(or $(MESSAGES),1000) -within 1s

convergence: ## deliver ten thousand journeys in random order through both doors, and check that every answer is the same (JOURNEYS=1000 for less)
	go test -count=1 -timeout 1h ./test/convergence -journeys $(or $(JOURNEYS),10000)

truth: ## stream 100,000 simulated bags through real servers, and compare every answer with the truth (BAGS=1000 for less)
	servers="$$(.ci/servers up)" && eval "$$servers" && BAGTRAIL_TEST_REQUIRE_REAL=1 go test -count=1 -timeout 1h -v ./test/truth -bags $(or $(BAGS),100000)

servers: ## show how to start real Kafka and Redis servers for the tests
	@sed -n 's/^# \{0,1\}//p' .ci/servers | sed -n '2,/^$$/p'

ci: ## run everything that the build machine runs
	.ci/run

clean: ## remove the binary, and the data of the in-process servers
	rm -rf bagtrail bagtrail-data
