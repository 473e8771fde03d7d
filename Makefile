# The front door: each target first installs the Debian packages that it lacks (packaging/deps.txt),
# then hands over to meson. `make help` lists the targets.

BUILD   ?= build
PREFIX  ?= /usr/local
DESTDIR ?=
CC      ?= cc
NEED    := packaging/need

.PHONY: all build help demo test test-full bench plots fuzz lint deb docs install clean

all: build

help:
	@sed -n 's/^## //p' Makefile

## make            build everything into build/
build: $(BUILD)/build.ninja
	@ninja -C $(BUILD)

$(BUILD)/build.ninja: packaging/deps.txt
	@$(NEED) build
	@$(NEED) test
	@test -f $@ || meson setup $(BUILD) --prefix=$(PREFIX)
	@touch $@

## make demo       a file of MIB (1024) MiB from a UB end through two gateways and a router; SVG=FILE
demo: $(BUILD)/build.ninja
	@ninja -C $(BUILD) causeway causewayd
	@CW_BUILD=$(abspath $(BUILD)) lab/demo.sh $(or $(MIB),1024) $(or $(SVG),$(BUILD)/demo.svg)

## make test       all tests: unit tests also under ASan and UBSan, labs in namespaces
test:
	@$(NEED) build test lab
	@tests/run

## make test-full  the same with the long runs
test-full:
	@$(NEED) build test lab
	@tests/run --full

## make bench      speed, as ratios against other programs in the same run
bench: build
	@$(NEED) test bench
	@bench/run

## make plots      congestion notification, ECN at a bottleneck, UET over eight paths: drawings (SVG) in out/plots
plots: build
	@$(NEED) test lab
	@CW_BUILD=$(abspath $(BUILD)) lab/cn-loops.sh $(or $(OUT),out/plots)
	@CW_BUILD=$(abspath $(BUILD)) lab/ecn.sh 4 $(or $(OUT),out/plots)/ecn-queue.svg
	@CW_BUILD=$(abspath $(BUILD)) lab/uet-paths.sh $(or $(OUT),out/plots)

## make fuzz       every fuzz target for FUZZ_SECONDS (60) each
fuzz:
	@$(NEED) build
	@fuzz/run

## make lint       layout, both compilers, static checks, man pages
lint:
	@$(NEED) build test lint
	@tests/lint

## make docs       write docs/wire/*.md and docs/configuration.md anew from their tables
docs: build
	@$(BUILD)/wiredocs docs/wire
	@$(BUILD)/daemon/control/confdocs yang/configuration.md.in >docs/configuration.md

## make deb        Debian packages in out/
deb:
	@$(NEED) build deb
	@packaging/deb

## make install    honours DESTDIR and PREFIX
install: build
	@meson configure $(BUILD) -Dprefix=$(PREFIX)
	@DESTDIR=$(DESTDIR) meson install -C $(BUILD) --quiet

clean:
	@rm -rf build build-* out
