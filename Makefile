# make demo | make test | make check | make faults; everything lives in .venv
PYTHON ?= python3
PIP = .venv/bin/python -m pip --disable-pip-version-check
SOURCES = pyproject.toml constraints.txt README.md $(shell find src -type f -not -name '*.pyc' -not -name '*.nbi' -not -name '*.nbc')

.PHONY: demo test check faults benchmarks clean

demo: .venv/installed-demo
	@echo '--- gelato demo'
	.venv/bin/gelato demo

# Two processes share the cores: more threads in each would wait for one another. Compiled tests are kept for the next
# run, and for the processes that tests start, also where PYTHONDONTWRITEBYTECODE is set.
test: .venv/installed-test
	@echo '--- pytest'
	PYTHONDONTWRITEBYTECODE= OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 .venv/bin/python -m pytest -q -n 2 --dist worksteal

check: .venv/installed-check
	.venv/bin/ruff check .
	.venv/bin/ruff format --check .
	.venv/bin/mypy

# 200 processes killed at random moments, which takes about half an hour; KILLS=20 for fewer, SEED=1 for the same again
faults: .venv/installed-test
	.venv/bin/python tests/faults/kills.py $(if $(KILLS),--kills $(KILLS)) $(if $(SEED),--seed $(SEED))

benchmarks: .venv/installed-benchmarks
	.venv/bin/python benchmarks/run.py

.venv/bin/python:
	@echo '--- making .venv with' "$$($(PYTHON) --version)"
	$(PYTHON) -m venv .venv

# The package itself is installed (not linked), so that tests see what users get.
.venv/installed-%: .venv/bin/python $(SOURCES)
	@echo '--- installing gelato-links[$*] into .venv (the first time takes a minute or two)'
	$(PIP) install -q -c constraints.txt '.[$*]'
	@echo '--- compiling what most commands need, once'
	.venv/bin/gelato evaluate debian-sample --method ac,cn --no-resume --quiet > /dev/null
	.venv/bin/gelato predict debian-sample --method cn --top 5 --quiet > /dev/null
	.venv/bin/gelato predict debian-sample --method ac --top 5 --quiet > /dev/null
	@touch $@

clean:
	rm -rf .venv build dist
