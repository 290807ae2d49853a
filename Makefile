# Everything runs in .venv, made from requirements.lock by a pinned uv that lives in .tools.
UV_VERSION := 0.13.7
UV := .tools/bin/uv
BIN := .venv/bin
READY := .venv/.ready
SYNC := $(UV) pip sync --quiet --compile-bytecode --python .venv --require-hashes requirements.lock
ITSELF := $(UV) pip install --quiet --python .venv --no-deps --no-build-isolation --editable .

# Tests start the command hundreds of times: its modules are compiled once, whatever the machine's habit.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: demo test test-long test-compilers lint browser fuzz bench docs lock clean

demo: $(READY)  ## set up, then fold the shipped blur, write the code to demo.folded.c, run and compare both
	$(BIN)/arrayfold fold examples/blur-interleaved.c --param N=1024 -o demo.folded.c --force --run

test: $(READY) lint browser  ## set up, then everything that CI runs
	$(BIN)/pytest -n 2 --dist loadgroup
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet --site-dir .site

test-long: $(READY)  ## the tests that `make test` leaves out: larger programs than those of shorter tests
	$(BIN)/pytest -n 2 --dist loadgroup -m long

test-compilers: $(READY)  ## what needs clang, flang and MLIR: root on Debian gets them
	apt-get update -qq && apt-get install -qq -y --no-install-recommends \
	  clang-19 clang-22 flang-22 mlir-22-tools > /dev/null
	$(BIN)/pytest -m "long or not long" tests/test_jscop.py tests/test_loopy.py tests/test_mlir_opt.py tests/test_other_tools.py

lint: $(READY)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/basedpyright

# The report page is tested in a browser. Root on Debian gets one; without one these tests are left out.
browser:
	@command -v chromium > /dev/null || command -v chromium-browser > /dev/null || command -v google-chrome > /dev/null \
	  || { test "$$(id -u)" = 0 && apt-get update -qq && apt-get install -qq -y --no-install-recommends chromium > /dev/null; } \
	  || echo "There is no Chromium, so the tests of the report page are left out: apt-get install chromium"

SECONDS := 600
fuzz: $(READY)  ## random inputs for SECONDS=600, with a fresh seed or SEED=, all kinds or KIND=, JOBS=1
	$(BIN)/python -m tests.fuzz --seconds $(SECONDS) $(SEED:%=--seed %) $(KIND:%=--kind %) $(JOBS:%=--jobs %)

bench: $(READY)  ## time per example and stage, construction of conflicts, method, C file; speed of folded code
	$(BIN)/python benchmarks/analysis.py
	$(BIN)/python benchmarks/conflicts.py
	$(BIN)/python benchmarks/methods.py
	$(BIN)/python benchmarks/extraction.py
	$(BIN)/python benchmarks/folded_code.py
	$(BIN)/python benchmarks/sharing.py

docs: $(READY)  ## the documentation site at http://localhost:8000
	$(BIN)/mkdocs serve

lock: $(UV)  ## renew requirements.lock after a change of pyproject.toml
	$(UV) pip compile pyproject.toml --group dev --group docs --group counting --universal \
	  --python-version 3.11 --generate-hashes --no-header --no-annotate --upgrade --quiet -o requirements.lock

$(UV):
	python3 -m pip install --quiet --disable-pip-version-check --target .tools "uv==$(UV_VERSION)"

# uv brings its own certificates; behind a proxy with a certificate of its own the system's are needed.
$(READY): requirements.lock pyproject.toml | $(UV)
	$(UV) venv --quiet --allow-existing --python ">=3.11" .venv
	$(SYNC) || UV_SYSTEM_CERTS=true $(SYNC)
	$(ITSELF) || UV_SYSTEM_CERTS=true $(ITSELF)
	touch $(READY)

clean:
	rm -rf demo.folded.c .venv .tools .site .pytest_cache .ruff_cache .hypothesis
