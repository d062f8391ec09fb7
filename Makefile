# Hecate: a compiler from specification to kernels.

GO ?= go

.PHONY: help run arm64 test test-short nightly generate check fmt oracle bench baseline timed cuda gpu-kit fuzz mutate sweep-knobs compare levels sweep eval docs presets

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-11s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

run: ## show one page, its derived gradient and its kernels; compile the pages, then build a small model (about a minute)
	cat specs/algorithms/rules/delta_rule.md
	$(GO) run ./cmd/hecategen derive DeltaRule
	$(GO) run ./cmd/hecategen generate
	ls generated/rules/deltarule
	$(GO) run ./cmd/hecate build --preset tiny

test: ## every test, the generated ones included, and the deep proofs
	$(GO) test -timeout 60m $(GOTESTFLAGS) ./...
	$(GO) run ./cmd/hecategen prove -deep

test-short: ## the tests that need no module of their own, no C++ compiler and no long series (about two minutes when packages are built)
	$(GO) test -short ./...

# What runs for arm64 of the tests: kernels of package kern, generated code, and models after some steps.
ARM64_TESTS = ./runtime/cpu ./runtime/kern ./generated/ops $(addprefix ./generated/rules/,deltarule gateddelta hebbian titanslmm moneta)
ARM64_BITS = TestBits/fma/ByteLM.MAC.(Delta|Gated|Hebbian|Titans|HGRN2|Lattice)|TestBits/portable/ByteLM.MAC.DeltaRule\W

# Generated packages have the same files for all systems.
arm64: ## build for arm64, and run the tests of its kernels with qemu-user
	GOOS=darwin GOARCH=arm64 $(GO) build ./runtime/... ./gen/... ./internal/... ./command/...
	GOOS=linux GOARCH=arm64 $(GO) build ./...
	GOOS=linux GOARCH=arm64 $(GO) vet ./generated/regions ./runtime/kern
	GOOS=linux GOARCH=arm64 $(GO) test -short -exec qemu-aarch64 -skip 'TestStart|TestGemmFMAWorkers|TestFunctions' $(ARM64_TESTS)
	GOOS=linux GOARCH=arm64 $(GO) test -exec qemu-aarch64 -run '$(ARM64_BITS)' ./validation/bits

nightly: ## more of the same: every mutation, 50,000 random pages, the protocol at full size, every kernel compiled, fuzzing
	$(GO) run ./cmd/mutate
	$(GO) test ./gen/random -timeout 0 -pages 50000 -seed $${SEED:-$$(date +%s)}
	$(GO) test ./gen/random -timeout 0 -run Pages -pages 500 -arm64 -seed $${SEED:-$$(date +%s)}
	$(GO) test ./gen/emitcuda -timeout 0 -run RandomPages -pages 5000 -seed $${SEED:-$$(date +%s)}
	HECATE_PROTOCOL=full $(GO) test -timeout 0 ./validation/protocol
	.ci/nvrtc
	$(GO) run ./cmd/hecategen cuda
	$(GO) run ./internal/cudac -n -all
	$(MAKE) fuzz

generate: ## write generated/ from specs/
	$(GO) generate ./...

check: ## are the generated files current and the tree clean, for every target of the CPU?
	$(GO) run ./cmd/hecategen generate -n
	@test -z "$$(gofmt -l $$(git ls-files '*.go'))" || { gofmt -l $$(git ls-files '*.go'); echo "not gofmt-clean"; exit 1; }
	$(GO) vet ./...
	$(GO) build -o out/hecatevet ./cmd/hecatevet
	$(GO) vet -vettool=out/hecatevet ./...
	$(GO) vet -tags purego ./generated/... ./runtime/...
	$(GO) vet -tags nogpu ./runtime/... ./command/... ./cmd/hecate
	GOARCH=arm64 $(GO) vet ./generated/... ./runtime/...
	@for l in portable fma avx2 avx512; do echo "HECATE_CPU=$$l"; \
		HECATE_CPU=$$l $(GO) test -count=1 -run '/(float32|tape|steady)' ./generated/ops || exit 1; done
	$(GO) tool staticcheck ./...

fmt: ## format Go and pages
	gofmt -w $$(git ls-files '*.go')
	$(GO) run ./cmd/hecategen fmt -w specs

oracle: ## rewrite the reference vectors with JAX (needs Python; for developers)
	python3 -m venv out/oracle
	out/oracle/bin/pip install -q -r validation/oracle/requirements.txt
	out/oracle/bin/python validation/oracle/make.py

bench: ## compare the emitted code with C, OpenBLAS and the peak in one interleaved run; appends to validation/bench/NOTES.md
	$(GO) run ./validation/bench -append "$${TITLE:-$$(git log -1 --format='%h, %s')}"

cuda: ## compile the CUDA kernels that changed for every device, write what they need to cuda/resources.json; build images for the presets into cmd/hecate
	.ci/nvrtc
	$(GO) run ./cmd/hecategen cuda
	$(GO) run ./internal/cudac
	$(NVRTC) $(GO) run ./cmd/hecate images $(BUILDS) -o cmd/hecate/images/images.zip

# The builds whose kernels are precompiled: those of the presets and of README.
BUILDS = --presets --set levels.periods=1,8 --model 'ByteLM(MAG(CMS([DeltaRule, TitansLMM]), SlidingWindow))'
NVRTC = HECATE_NVRTC=out/nvrtc/libnvrtc.so.11.2

gpu-kit: ## pack out/gpu-kit: its program run verifies and measures all on a machine with a GPU, without Go, a compiler or a network
	.ci/nvrtc
	mkdir -p out/gpu-kit
	$(NVRTC) $(GO) run ./cmd/hecate images --verify --model ZeroB --targets compute_80,sm_80,sm_90 -o out/gpu-kit/images.zip
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags '-s -w' -o out/gpu-kit/hecate ./cmd/hecate
	gzip -9nf out/gpu-kit/hecate && chmod -x out/gpu-kit/hecate.gz
	cp validation/gpukit/run validation/bench/torch/step.py out/gpu-kit
	@du -sk out/gpu-kit | awk '{ print "out/gpu-kit: " $$1 " KiB"; exit $$1 > 40 * 1024 }'

fuzz: ## a minute of each fuzz target
	@for t in gen/markdown:FuzzParse gen/notation/parser:FuzzParse gen/notation/parser:FuzzFormat gen/ir:FuzzParse gen/vjpcheck:FuzzTable runtime/checkpoint:FuzzDecode runtime/stream:FuzzCheck runtime/tokenizer:FuzzParse runtime/tokenizer:FuzzRoundTrip runtime/formula:FuzzParse command/internal/config:FuzzParse internal/vectors:FuzzRead; do \
		$(GO) test ./$${t%%:*} -run '^$$' -fuzz "^$${t##*:}$$" -fuzztime $${FUZZTIME:-1m} -fuzzminimizetime 1x || exit 1; done

mutate: ## break the pages one token at a time and see that every break is caught
	$(GO) run ./cmd/mutate

sweep-knobs: ## compile, prove and run every legal combination of the knobs; report under out/sweep
	$(GO) build -o out/hecategen ./cmd/hecategen
	out/hecategen sweep -for 1h

baseline: ## transformers and memories of PyTorch and of this compiler on one text: validation/experiments/reports/baseline.md (needs Python; half an hour on two cores; BASELINE=-quick, -all)
	python3 -m venv out/torch
	out/torch/bin/pip install -q -r validation/bench/torch/requirements.txt
	$(GO) run ./validation/experiments baseline $(BASELINE)

timed: ## the transformer and the memory of the baseline, ten minutes each on five megabytes: validation/experiments/reports/timed.md (needs Python)
	python3 -m venv out/torch
	out/torch/bin/pip install -q -r validation/bench/torch/requirements.txt
	$(GO) run ./validation/experiments timed

compare: ## nine rules, four levels each, on one text: validation/experiments/reports/compare.md
	$(GO) run ./validation/experiments compare

levels: ## does a second, slower level help? validation/experiments/reports/levels.md (hours)
	$(GO) run ./validation/experiments levels

sweep: ## combinations of rules and compositions, and which degenerate: validation/experiments/reports/sweep.md (STEPS=100000 for the longest)
	$(GO) run ./validation/experiments sweep -steps $${STEPS:-0}

presets: ## build every preset, and write what it reached into its file (PRESETS=tiny for one; medium takes 20 minutes)
	PRESETS=$${PRESETS:-all} $(GO) test -count=1 -timeout 0 -v -run PresetsReach ./command

eval: ## what each memory rule recalls, and how it reads long contexts: validation/experiments/reports/eval (an hour)
	$(GO) run ./cmd/hecate eval --out validation/experiments/reports/eval

docs: ## write the reference of all pages: out/docs/index.html and out/docs/markdown
	$(GO) run ./cmd/hecategen docs
