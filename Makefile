# Holdfast: one command for each thing that people do here. `make` alone lists them.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.PHONY: help build demo test bench soak fuzz doc lint setup

TARGET := $(or $(CARGO_TARGET_DIR),$(if $(HOLDFAST_CACHE),$(HOLDFAST_CACHE)/target,target))

help: ## Say what there is
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-8s %s\n", $$1, $$2 }' Makefile

setup: ## Install what building and testing need (FOR="build cobol token openpgp engine failover messages bench fuzz" for more)
	@scripts/setup.sh $(or $(FOR),build)

build: ## Build the commands holdfast and holdfast-sop
	@scripts/setup.sh build
	@. scripts/common.sh; choose_toolchain; \
	cargo build --release -p holdfast -p holdfast-sop

demo: ## A bank's programs in batch and online, killed and restarted, losing nothing (CUSTOMERS=100000; STOP=1 ends it)
ifdef STOP
	@scripts/demo.sh --stop
else
	@scripts/setup.sh build cobol
	@. scripts/common.sh; choose_toolchain; \
	cargo build --release -p holdfast -p holdfast-bank-data
	@scripts/demo.sh $(CUSTOMERS)
endif

test: ## Run every check and test
	@scripts/setup.sh build cobol token openpgp engine messages
	@scripts/test.sh

lint: ## Run only the checks that need no test to run
	@scripts/setup.sh build
	@scripts/test.sh lint

bench: ## Run the benchmarks beside their peers (ONLY="seal commit" for some of them)
	@scripts/setup.sh bench cobol
	@. scripts/common.sh; choose_toolchain; \
	cargo build --release -p holdfast -p holdfast-bench --features holdfast-bench/redb; \
	"$(TARGET)/release/holdfast-bench" run $(ONLY)

soak: ## Crash the simulator, kill under load, lose leaders, spoil files, fuzz: MINUTES=60 each; kill KILLS=2000 times
	@scripts/setup.sh build failover fuzz
	@scripts/soak.sh $(or $(MINUTES),60) $(or $(KILLS),2000)

fuzz: ## Fuzz every decoder for SECONDS=60 each (ONLY="key_file" for some of them)
	@scripts/setup.sh fuzz
	@scripts/fuzz.sh $(or $(SECONDS),60) $(ONLY)

doc: ## Write the documentation of all crates to target/doc
	@scripts/setup.sh build
	@. scripts/common.sh; choose_toolchain; \
	cargo doc --workspace --no-deps; echo "$(TARGET)/doc/holdfast/index.html"
