# Everything a developer does, as one word. Needs Python 3.11+ and a C++20 compiler; the rest is set up on first use.
PYTHON ?= python3
VENV ?= .venv
JOBS ?= $(shell nproc 2>/dev/null || sysctl -n hw.ncpu 2>/dev/null || echo 2)
FUZZ_SECONDS ?= 60
TORTURE_SECONDS ?= 3600
BUILD ?= build
comma := ,
PYTEST_ARGS ?= -n $(JOBS) --dist worksteal

BIN := $(VENV)/$(if $(filter Windows_NT,$(OS)),Scripts,bin)
PY := $(BIN)/python
# cmake and ninja come with the virtual environment
export PATH := $(abspath $(BIN)):$(PATH)
export PIP_DISABLE_PIP_VERSION_CHECK := 1

CPP := $(shell find cpp -name '*.cpp' -o -name '*.hpp')
CORE := $(filter-out cpp/tests/%,$(CPP))
# an editable install knows the modules that were there when it was made: a folder that gained or lost one makes it anew
FOLDERS := $(shell find src -type d -not -name __pycache__)

.PHONY: help setup demo test cpp-test slow-test bench bench-toolkit bench-learning bench-training bench-chem asan tsan fuzz sanitized torture site check clean

help:  ## list the targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## */\t/' | expand -t 16

# Three stamps: the tools that build, PyTorch, then the package with its development extra (rebuilt when the core changes).
$(VENV)/.tools: constraints-dev.txt
	@echo "Setting up the virtual environment $(VENV)"
	test -x $(PY) || $(PYTHON) -m venv $(VENV)
	$(PY) -m pip install -q -c constraints-dev.txt scikit-build-core nanobind cmake ninja
	touch $@

# alone and by its exact version: asked for by a range, as the extra does, pip may choose a build that brings a GPU's libraries along
$(VENV)/.torch: $(VENV)/.tools
	@echo "Installing PyTorch"
	$(PY) -m pip install -q -c constraints-dev.txt $(shell grep '^torch==' constraints-dev.txt)
	touch $@

$(VENV)/.package: $(VENV)/.torch pyproject.toml CMakeLists.txt $(CORE) $(FOLDERS)
	@echo "Building planegraph; the first time takes a minute or two"
	$(PY) -m pip install -q -c constraints-dev.txt --no-build-isolation -e '.[dev]'
	touch $@

setup: $(VENV)/.package  ## virtual environment, dependencies, build

demo: setup  ## train BasePlanE and GIN side by side on built-in data, a few minutes
	$(PY) examples/demo.py

test: setup cpp-test  ## the default tests
	$(PY) -m pytest $(PYTEST_ARGS)

slow-test: setup  ## the tests that take minutes
	$(PY) -m pytest -m slow $(PYTEST_ARGS)

bench: setup  ## the speed table, also as JSON in build/benchmark.json
	$(PY) benchmarks/core.py --json $(BUILD)/benchmark.json $(BENCH_ARGS)

bench-toolkit: setup  ## the speed table of embeddings, drawings and symmetries, also as JSON in build/benchmark-toolkit.json
	$(PY) benchmarks/toolkit.py --json $(BUILD)/benchmark-toolkit.json $(BENCH_ARGS)

bench-learning: setup  ## the speed table of the learning library, also as JSON in build/benchmark-learning.json
	$(PY) benchmarks/learning.py --json $(BUILD)/benchmark-learning.json $(BENCH_ARGS)

bench-chem: setup  ## planegraph beside chemprop, LightGBM and a random forest on small molecule sets; hours, and can be resumed
	$(PY) -m pip install -q -e '.[bench]'
	$(PY) benchmarks/chem.py --seeds 3 $(BENCH_ARGS)
	$(PY) benchmarks/chem.py --table

bench-training: setup  ## the speed table of training, also as JSON in build/benchmark-training.json; two rows need a GPU
	$(PY) benchmarks/training.py --json $(BUILD)/benchmark-training.json $(BENCH_ARGS)

# $(call cpp_tests,folder,cmake options): build the tests of the core without Python and run them
define cpp_tests
cmake -S . -B $(BUILD)/$(1) -G Ninja -DPLANEGRAPH_PYTHON=OFF -DPLANEGRAPH_TESTS=ON $(2) --log-level=WARNING
cmake --build $(BUILD)/$(1) -j $(JOBS)
endef

cpp-test: $(VENV)/.tools  ## the tests of the core
	$(call cpp_tests,cpp,)
	ctest --test-dir $(BUILD)/cpp --no-tests=error --output-on-failure -j $(JOBS)

# the library's own assertions see an index that is out of range but still inside the allocation
ASAN := -DPLANEGRAPH_SANITIZE=address$(comma)undefined -DCMAKE_CXX_FLAGS=-D_GLIBCXX_ASSERTIONS

asan: $(VENV)/.tools  ## the tests of the core under AddressSanitizer and UndefinedBehaviorSanitizer
	$(call cpp_tests,asan,$(ASAN))
	ctest --test-dir $(BUILD)/asan --no-tests=error --output-on-failure -j $(JOBS)

TSAN := -DPLANEGRAPH_SANITIZE=thread

# only what uses threads: the other tests would take minutes and see nothing new
tsan: $(VENV)/.tools  ## the tests of the batch driver under ThreadSanitizer
	$(call cpp_tests,tsan,$(TSAN))
	ctest --test-dir $(BUILD)/tsan --no-tests=error --output-on-failure -R 'batch|fuzz'

# FUZZ_SEED repeats a run
fuzz: $(VENV)/.tools  ## arbitrary arrays into the core, under the sanitizers, for FUZZ_SECONDS
	$(call cpp_tests,asan,$(ASAN))
	@for f in cpp/tests/fuzz*.cpp; do $(BUILD)/asan/$$(basename $$f .cpp) $(FUZZ_SECONDS) $(FUZZ_SEED) || exit 1; done

sanitized: $(VENV)/.tools  ## build the tests of the core under all sanitizers, for the part of `torture` that runs them
	$(call cpp_tests,asan,$(ASAN))
	$(call cpp_tests,tsan,$(TSAN))

torture: setup sanitized  ## attacks on all of it for TORTURE_SECONDS, an hour by default; TORTURE_ARGS chooses a part and a seed
	PYTHONPATH=tests $(PY) -m torture --seconds $(TORTURE_SECONDS) $(TORTURE_ARGS)

site: setup  ## the documentation as a site, in build/site
	NO_MKDOCS_2_WARNING=1 $(PY) -m mkdocs build --strict --site-dir $(BUILD)/site

check: setup  ## all that reads the code without running it: ruff, clang-format, types, the order of the layers
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/clang-format --dry-run -Werror $(CPP)
	$(PY) -m mypy
	$(PY) tools/layers.py

clean:  ## remove everything that was built or set up
	rm -rf build dist $(VENV)
