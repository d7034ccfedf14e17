# TorchSleuth: `make demo` shows the main job on real input, `make test` checks everything.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed
NODE := node_modules/.installed

.PHONY: demo test check format benchmark test-python check-extension test-extension test-editor vsix docs clean test-matrix coverage

demo: $(INSTALLED)
	bash examples/demo.sh $(BIN)

# The fast ones first.
test: check check-extension test-extension test-python test-editor

# torch first and at its pinned version: otherwise the resolver may choose a build with CUDA libraries.
$(INSTALLED): pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt torch numpy
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[dev]'
	touch $@

check: $(INSTALLED)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

format: $(INSTALLED)
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

test-python: $(INSTALLED)
	$(BIN)/python -m pytest tests -n auto --dist worksteal

$(NODE): package.json package-lock.json
	npm ci --no-audit --no-fund
	touch $@

# The oldest and the newest supported Python and PyTorch, each in an environment of its own below .matrix.
test-matrix:
	$(PYTHON) tests/matrix.py

# Which lines no test of the engine executes.
coverage: $(INSTALLED)
	$(BIN)/python -m pytest tests/unit tests/rules tests/runtime -n auto --cov=torchsleuth --cov-report=term:skip-covered

check-extension: $(NODE)
	npm run --silent check

test-extension: $(NODE)
	npm run --silent test

vsix: $(INSTALLED) $(NODE)
	npm run --silent vsix

test-editor: vsix
	bash tests/editor/run.sh

benchmark: $(INSTALLED)
	$(BIN)/python benchmarks/waiting.py

docs: $(INSTALLED)
	$(BIN)/python -m torchsleuth.cli.pages docs/rules

clean:
	rm -rf $(VENV) node_modules build dist demo-output extension/out extension/bundled tests/editor/screenshots
