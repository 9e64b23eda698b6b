# Holdfast. `make` alone lists the targets.

.DEFAULT_GOAL := help
.PHONY: help build test test-fast lint fuzz mutation cover bench release install-tools clean

help: ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  %-14s %s\n", $$1, $$2}'

build: ## build the command into build/holdfast
	CGO_ENABLED=0 go build -trimpath -o build/holdfast ./cmd/holdfast

test: ## run every test, the core and the stores under -race; install what is missing, clean up
	@scripts/test.sh

test-fast: ## run the short tests without -race, for use while editing
	go test -short ./...

lint: ## check format, vet, staticcheck, shell scripts, and that other systems compile
	@scripts/lint.sh

fuzz: ## run each fuzz target for FUZZTIME, 10s unless set
	@scripts/fuzz.sh

mutation: ## make each mistake of a list in the core, and want the tests to notice
	go run ./internal/mutation

cover: ## show the statement coverage of all tests, and write build/cover.html
	@scripts/cover.sh

bench: ## run the benchmarks
	go test -run '^$$' -bench . -benchmem ./...

release: ## build the command for all systems into build/
	@scripts/release.sh

install-tools: ## install what tests and checks need beside Go
	@scripts/install.sh

clean: ## remove build/ and this module's test results
	rm -rf build
	go clean -testcache
