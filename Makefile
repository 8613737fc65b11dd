# Every target is one line of compose or of a script; README.md says what they are for, .env.example what can be set.
.DEFAULT_GOAL := help
.PHONY: help doctor bench sweep scale learn verify plots report gallery down image-cpu image-cuda test test-fast test-image lint lock audit

help: ## say what can be made
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' $(MAKEFILE_LIST)

doctor: ## say what this machine lacks for make bench, and what to type
	@python3 -m bench doctor

bench: ## measure on a GPU, or on none: results/report.html, last_gspo_bench.json and its plot; REPEAT=3 on three fresh servers
	@docker/bench.sh

learn: ## learn a task with GSPO and draw the curve: GSM8K on a GPU, arithmetic without; LEARN_ARGS=--resume goes on
	@docker/bench.sh learn

sweep: ## try server settings on one batch, and say which is the fastest that fits: results/last_sweep.json, sweep.png
	@docker/sweep.sh

scale: ## one batch on 1, 2, 4 and 8 GPUs, and one that grows with them: results/last_scale.json, scale.png
	@docker/sweep.sh scale

verify: ## check that the server tells the truth: outputs in order, masks respected, both paths the same step
	@docker/bench.sh verify

plots: ## draw the plots again, and report.html, from the files in results/
	@docker/plots.sh

report: plots ## the same: results/report.html is written with the plots

gallery: ## draw the published results, and write the README's table from their files
	@docker/plots.sh gallery

down: ## end what runs, whichever stack it is; the cache of models stays
	@PORT= GPUS= docker compose --progress quiet -f compose.yaml -f compose.cpu.yaml down --remove-orphans --timeout 5

image-cpu: ## build the CPU server's image
	@PORT= GPUS= docker compose -f compose.yaml -f compose.cpu.yaml build server

image-cuda: ## build the CUDA server's image, about 7 GB of packages
	@PORT= GPUS= docker compose build server

test: ## lint and all tests: in the tests' own image, then the stack from this machine
	@docker/test.sh

test-image: ## what the CUDA server's image would lack on a GPU, looked at without one; builds it
	@docker/test.sh image

test-fast: ## the quick tests, without Docker: no server, no browser, no picture; needs Python 3.12
	@docker/test.sh fast

lint: ## ruff, mypy and shellcheck
	@docker/test.sh lint

lock: ## write the locked requirements again; needs uv; UPGRADE=1 takes newer versions
	@docker/requirements/lock.sh

audit: ## ask osv.dev whether a locked package has a known vulnerability; needs the network, no Docker
	@docker/audit.sh
