# The front door. Meson and Ninja do the work; `make help` lists the targets.

PREFIX ?= /usr/local
DESTDIR ?=
BUILD := build
TIME ?= 60
RUNS ?=
FIRST ?= 1
COUNT ?= 1000
PROGRAMS ?= 50
HOURS ?= 24
NETWORKS ?=
MANAGERS ?= weft weft-open opensm
ROWS ?=
ROUNDS ?= 500
SEED ?= 1
JOBS ?= 2
UPDATE ?=

.DEFAULT_GOAL := build
.PHONY: build demo live check quick cost check-full format tidy bench bench-routing fuzz fuzz-long campaign campaign-machines campaign-programs attack chaos soak install uninstall deb clean help

build: $(BUILD)/build.ninja ## build build/weft (the default)
	@tools/refresh-page $(BUILD)
	@ninja -C $(BUILD) --quiet

$(BUILD)/build.ninja:
	@tools/setup build
	meson setup $(BUILD) --prefix=$(abspath $(PREFIX))

demo: ## bring up a simulated fabric with OpenSM, look at it with ibnetdiscover, draw it
	@tools/setup build demo
	@$(MAKE) --no-print-directory build
	@tools/demo

live: ## serve the live page: a 3-level tree with traffic and two managers; prints the URL
	@tools/setup build live
	@$(MAKE) --no-print-directory build
	@tools/live

check: ## all tests (release, ASan + UBSan), costs, layers, format, headers, clang-tidy on what changed
	@tools/setup build check
	@tools/check

quick: build ## build, and the tests of what changed, within 90 s: the loop before make check
	@tools/quick

cost: build ## instructions of fixed jobs, compared with bench/cost.record; UPDATE=--update rewrites it
	@tools/setup build check
	@bench/cost $(UPDATE)

check-full: ## the same with what is slow: large fabrics, long campaigns, all experiments, clang-tidy on everything
	@tools/setup build check fuzz deb package
	@tools/check --full

format: ## rewrite the sources with clang-format
	@tools/format --fix

tidy: build ## clang-tidy on every source
	@tools/tidy --all

bench: ## benchmarks, each beside its peer
	@tools/setup build bench
	@$(MAKE) --no-print-directory build
	@bench/run

bench-routing: ## routes of OpenSM on ibsim beside ours; NETWORKS="5832 11664" for some only
	@tools/setup build bench
	@$(MAKE) --no-print-directory build
	@WEFT=$(BUILD)/weft PRELOAD=$(BUILD)/preload/libweft-umad.so bash bench/routing.sh $(NETWORKS)

fuzz: ## fuzz every target with libFuzzer and sanitizers, for TIME seconds or RUNS executions each
	@tools/setup build fuzz
	@TIME=$(TIME) RUNS=$(RUNS) tools/fuzz

fuzz-long: ## fuzz every target, 10^8 executions in all: some hours of one core
	@tools/setup build fuzz
	@tools/fuzz mad=66000000 store=8000000 order=3000000 partitions=3000000 topology=3000000 \
		config=2000000 user_routes=2000000 lfts=2000000 scenario=2000000 registry=1500000 \
		lanes=1500000 server=1000000 qos=1000000 sma=1000000 sa=1000000 http=1000000 api=1000000 \
		metrics=1000000 trust=1000000 whatif=1000000 preload=200000

campaign: ## managers under random faults: COUNT seeded runs from seed FIRST on; HARD=hard adds mute agents and duplicate GUIDs
	@tools/setup build check
	@$(MAKE) --no-print-directory build
	@$(BUILD)/tests/campaign/campaign $(FIRST) $(COUNT) $(HARD)

campaign-machines: ## 10,200 random operations on virtual machines, under traffic, from seed FIRST
	@tools/setup build check
	@$(MAKE) --no-print-directory build
	@$(BUILD)/tests/campaign/machines 1700 $(FIRST)

campaign-programs: ## RDMA programs (perftest, rping, MPI) under random faults: COUNT seeded runs from seed FIRST on
	@tools/setup build check
	@$(MAKE) --no-print-directory build
	@mpicc -O1 -o $(BUILD)/tests/campaign/exchange examples/rdma/exchange.c
	@WEFT=$(CURDIR)/$(BUILD)/weft PRELOAD=$(CURDIR)/$(BUILD)/preload/libweft-umad.so EXCHANGE=$(CURDIR)/$(BUILD)/tests/campaign/exchange \
		tests/campaign/programs.py --seed $(FIRST) --count $(PROGRAMS) --keep $(BUILD)/campaign-programs

attack: ## attacks on running managers (MANAGERS): attempts, breaches, worst response time; ROWS="sets sminfo" for some only, PRIORITY=5 on a busy machine
	@tools/setup build check
	@$(MAKE) --no-print-directory build
	@WEFT=$(BUILD)/weft PRELOAD=$(BUILD)/preload/libweft-umad.so SA_CLIENT=$(abspath $(BUILD))/tests/interop/sa_client \
		ATTACKER=$(abspath $(BUILD))/tests/attack/attacker PRIORITY=$(PRIORITY) bash tests/attack/run.sh -k $(BUILD)/attack -m "$(MANAGERS)" $(ROWS)

chaos: ## real managers under random faults, OpenSM among them: ROUNDS from seed SEED on, JOBS at a time
	@tools/setup build check
	@$(MAKE) --no-print-directory build
	@WEFT=$(BUILD)/weft PRELOAD=$(BUILD)/preload/libweft-umad.so SA_CLIENT=$(BUILD)/tests/interop/sa_client \
		python3 tests/chaos/chaos.py --rounds $(ROUNDS) --seed $(SEED) --jobs $(JOBS) --keep $(BUILD)/chaos

soak: ## HOURS of virtual time with a fault every minute; memory stays flat
	@tools/setup build check
	@$(MAKE) --no-print-directory build
	@$(BUILD)/tests/campaign/soak $(HOURS) $(FIRST)

install: build ## install below PREFIX (/usr/local), DESTDIR in front
	meson configure $(BUILD) -Dprefix=$(abspath $(PREFIX))
	ninja -C $(BUILD) --quiet
	DESTDIR=$(DESTDIR) tools/install install $(BUILD) $(abspath $(PREFIX))

uninstall: ## remove what make install installed below PREFIX, DESTDIR in front
	DESTDIR=$(DESTDIR) tools/install uninstall $(abspath $(PREFIX))

deb: ## the Debian packages, from the last commit, into build/deb
	@tools/setup build deb
	@tools/package $(BUILD)/deb

clean: ## remove everything that was built
	rm -rf build build-asan build-fuzz

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-18s %s\n", $$1, $$2 }' Makefile
