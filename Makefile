# `make run` and `make test` install the tools they need; see `make help`.

SHELL := bash
DATA ?= $(firstword $(wildcard data ../shared/data))

.PHONY: run test proofs fuzz build fmt docs eval bench clean help
.DEFAULT_GOAL := help

run: build ## build the program and show a session being told what two others learned
	@scripts/demo

test: ## run all checks and tests
	@scripts/test

proofs: ## inject every fault at every system call (slow)
	WAYLORE_FAULTS=all cargo test --locked --package waylore --all-features --test it faults

fuzz: ## fuzz every parser of external input, one minute each
	@scripts/fuzz

build: ## build target/release/waylore
	@scripts/build

fmt: ## format the code
	cargo fmt --all

docs: ## generate docs/reference from the tables in the code
	cargo run --locked --quiet --package xtask -- docs

eval: ## measure quality on public data (DATA=folder)
	cargo run --locked --release --package waylore-eval -- secrets --data "$(DATA)"
	cargo run --locked --release --package waylore-eval -- recall --data "$(DATA)"
	for task in signals errors prefetch insights; do \
		cargo run --locked --release --package waylore-eval -- $$task --data "$(DATA)" || exit 1; done

bench: ## measure speed against a baseline
	@scripts/build --package waylore-bench
	target/release/waylore-bench

clean: ## remove build output and the tools in .tools
	cargo clean
	rm -rf .tools clients/*/node_modules clients/*/dist

help: ## show this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-6s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)
