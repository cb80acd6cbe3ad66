# `make run` and `make test` set up whatever they need; see `make help`.

SHELL := bash
DATA ?= $(firstword $(wildcard data ../shared/data))

.PHONY: run test proofs fuzz build fmt docs eval bench clean help
.DEFAULT_GOAL := help

run: build ## build the program and show what it does, on this repository
	@scripts/demo

test: ## check everything that must hold
	@scripts/test

proofs: ## try every fault at every call, which takes long
	WAYLORE_FAULTS=all cargo test --locked --package waylore --all-features --test it faults

fuzz: ## throw noise at everything that reads what others wrote, a minute each
	@scripts/fuzz

build: ## build target/release/waylore
	@scripts/build

fmt: ## format the code
	cargo fmt --all

docs: ## write docs/reference from the tables in the code
	cargo run --locked --quiet --package xtask -- docs

eval: ## measure quality on public data (DATA=folder)
	cargo run --locked --release --package waylore-eval -- secrets --data "$(DATA)"
	cargo run --locked --release --package waylore-eval -- recall --data "$(DATA)"
	for task in signals errors prefetch worth-reading; do \
		cargo run --locked --release --package waylore-eval -- $$task --data "$(DATA)" || exit 1; done

bench: ## measure speed beside a baseline
	@scripts/build --package waylore-bench
	target/release/waylore-bench

clean: ## remove what was built and what was installed into .tools
	cargo clean
	rm -rf .tools clients/*/node_modules clients/*/dist

help: ## show this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-6s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)
