# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
#
# Wrapper of make.py. Variables:
# ROBOT=panda|ur5|two_link|URDF, SCENE=motion|contact, VIEW=1 (in the browser), or ARM=yam (motors
# on a simulated CAN bus): for demo
# DISTRO=kilted|jazzy: the ROS 2 release to install
# ARGS: for pytest (test, quick, coverage, prove), fuzz (ARGS='urdf 2000 --seed 1', ARGS=wire),
# adversary (ARGS='--minutes 10', ARGS=table, ARGS=quiet), bench and soak

PYTHON ?= $(shell for p in python3 python3.13 python3.12 python3.11 python3.10; do \
	$$p -c '' 2>/dev/null && echo $$p && break; done)
ROBOT ?= panda
SCENE ?= motion
DISTRO ?= kilted
export DISTRO

.PHONY: help demo test quick lint coverage prove fuzz adversary bench soak docs clean

help lint docs clean: python
	@$(PYTHON) make.py $@

demo: python
	@$(PYTHON) make.py demo $(if $(ARM),--arm '$(ARM)','$(ROBOT)' '$(SCENE)' $(if $(VIEW),--view))

test quick coverage prove fuzz adversary bench soak: python
	@$(PYTHON) make.py $@ $(ARGS)

.PHONY: python
python:
	@test -n '$(PYTHON)' || { \
		echo 'No Python found: `sudo apt install python3 python3-venv`, and run this again.' >&2; \
		exit 1; }
