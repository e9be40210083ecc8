# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Mutation of the guard in plain Python: `make prove ARGS=mutants`.

Each comparison, sign, constant, `and` and `or` in the functions of FILES, and each number in their
modules, is changed, one at a time, in a fork of a process that has run all tests once. The tests
that reach the line run, quickest first, until one fails: the mutant is killed, as it is if it does
not end. Tests that reach it after BUDGET seconds are left out: what is printed as survived may be
more than is true. Mutants that change nothing are in `equivalent_mutants.txt`, each with its
reason. (cosmic-ray would start pytest for each of 1,300 mutants, which takes seconds; mutmut knows
the tests of functions, not of lines, and wraps functions that rows of test/faults find.)
"""

import argparse
import ast
from collections import Counter, defaultdict
from collections.abc import Iterator
import copy
from importlib import import_module
import inspect
import os
from pathlib import Path
import random
import resource
import sys
import time
from typing import NamedTuple

from _pytest.runner import runtestprotocol
import coverage
from hypothesis import Phase, settings
import pytest
import robodyn_ros

STEPS = Path(robodyn_ros.__file__).parent / 'control' / 'steps'
FILES = ('guard', 'plausibility', 'motion_checks', 'limits', 'phase_efforts', 'frozen_readings',
         'motor_test')
EQUIVALENT = Path(__file__).with_name('equivalent_mutants.txt')
TARGET = 95             # % of the mutants that change something
BUDGET = 60.0           # s of CPU for the tests of one mutant
ENDLESS = 5             # times as much
ORDER = ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.Eq, ast.NotEq
NEGATED = dict(zip(ORDER, (ast.GtE, ast.Gt, ast.LtE, ast.Lt, ast.NotEq, ast.Eq)))
BOUNDARY = dict(zip(ORDER, (ast.LtE, ast.Lt, ast.GtE, ast.Gt)))
EXCHANGED = {ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult,
             ast.And: ast.Or, ast.Or: ast.And, ast.BitOr: ast.BitAnd, ast.BitAnd: ast.BitOr}


class Mutant(NamedTuple):
    """One change: of a function, or of a number of the module to ``value``."""

    file: str
    name: str
    lines: range            # of the statement
    change: str             # what was there, and what is instead
    code: ast.stmt
    value: object = None

    def __str__(self) -> str:
        return f'{self.file}.{self.name}: {self.change}'

    def apply(self) -> None:
        """Change the code of the function, or the number in each module that imports it."""
        module = import_module(f'robodyn_ros.control.steps.{self.file}')
        if self.value is None:
            tree = ast.fix_missing_locations(ast.Module([self.code], []))
            inspect.unwrap(getattr(module, self.name)).__code__, = (
                c for c in compile(tree, module.__file__, 'exec').co_consts if inspect.iscode(c))
            return
        before = getattr(module, self.name)
        for other in list(sys.modules.values()):
            if vars(other).get(self.name) is before:
                setattr(other, self.name, self.value)


def another(value: float) -> float:
    """Return another number."""
    if isinstance(value, bool):
        return not value
    return value + 1 if isinstance(value, int) else 2.0 * value or 1.0


def changed(node: ast.expr) -> Iterator[ast.expr]:
    """Yield what may stand in the place of an expression."""
    if isinstance(node, ast.Compare):
        for k, op in enumerate(node.ops):
            for new in (kind[type(op)]() for kind in (NEGATED, BOUNDARY) if type(op) in kind):
                yield ast.Compare(node.left, [*node.ops[:k], new, *node.ops[k + 1:]],
                                  node.comparators)
    elif isinstance(node, (ast.BinOp, ast.BoolOp)) and type(node.op) in EXCHANGED:
        new_node = copy.copy(node)
        new_node.op = EXCHANGED[type(node.op)]()
        yield new_node
    elif isinstance(node, ast.UnaryOp):
        yield node.operand
    elif isinstance(node, ast.Constant) and isinstance(node.value, (int, float)):
        yield ast.Constant(another(node.value))


def mutants(file: str) -> Iterator[Mutant]:
    """Yield the mutants of a file, in the order of its statements."""
    module = import_module(f'robodyn_ros.control.steps.{file}')
    for statement in ast.parse((STEPS / f'{file}.py').read_text()).body:
        if isinstance(statement, ast.FunctionDef):
            yield from of_function(file, statement)
        elif isinstance(statement, ast.Assign) and isinstance(
                statement.value, (ast.Constant, ast.Tuple, ast.BinOp)):
            for target in ast.walk(statement.targets[0]):
                if isinstance(target, ast.Name) and isinstance(
                        value := getattr(module, target.id), (int, float)):
                    yield Mutant(file, target.id, lines(statement), f'{value} -> {another(value)}',
                                 statement, another(value))


def of_function(file: str, function: ast.FunctionDef) -> Iterator[Mutant]:
    """Yield the mutants of a function."""
    def mutant(before: str, after: str) -> Mutant:
        return Mutant(file, function.name, lines(statement), f'{before} -> {after}',
                      copy.deepcopy(function))
    for statement in (s for s in ast.walk(function) if isinstance(s, ast.stmt)):
        for node, field, k in () if statement is function else places(statement):
            held = getattr(node, field)
            child = held if k is None else held[k]
            for new in changed(child):
                small = isinstance(child, (ast.Constant, ast.UnaryOp))
                before = shown(statement if small else child)
                setattr(node, field, new if k is None else [*held[:k], new, *held[k + 1:]])
                yield mutant(before, shown(statement if small else new))
                setattr(node, field, held)
        if isinstance(statement, ast.AugAssign) and type(op := statement.op) in EXCHANGED:
            before, statement.op = shown(statement), EXCHANGED[type(op)]()
            yield mutant(before, shown(statement))
            statement.op = op


def places(statement: ast.stmt) -> Iterator[tuple[ast.AST, str, int | None]]:
    """Yield the place of each expression of a statement: node, field and index in it."""
    nodes: list[ast.AST] = [] if isinstance(statement, ast.Expr) and isinstance(
        statement.value, ast.Constant) else [statement]
    while nodes:
        node = nodes.pop()
        for field, held in ast.iter_fields(node):
            for k, child in enumerate(held) if isinstance(held, list) else [(None, held)]:
                if isinstance(child, ast.expr) and field != 'annotation':
                    yield node, field, k
                    nodes.append(child)


def lines(statement: ast.stmt) -> range:
    """Return the lines of a statement without those of the statements in it."""
    end = statement.body[0].lineno if hasattr(statement, 'body') else statement.end_lineno + 1
    return range(statement.lineno, max(end, statement.lineno + 1))


def shown(node: ast.AST) -> str:
    """Return an expression, or a statement without those in it, on one line."""
    if hasattr(node, 'body') and isinstance(node, ast.stmt):
        node = copy.copy(node)
        node.body, node.orelse = [], []
    return ' '.join(ast.unparse(node).split())


class Tests:
    """A pytest plugin that runs each test once, then those of each mutant; ``survived``."""

    def __init__(self, chosen: list[Mutant], jobs: int):
        self.chosen, self.jobs = chosen, jobs
        self.killers: Counter[str] = Counter()
        self.seconds: dict[str, float] = {}
        self.reached: dict[tuple[str, int], set[str]] = defaultdict(set)
        self.survived: list[Mutant] = []
        self.running: dict[int, tuple[Mutant, list[str]]] = {}

    def pytest_sessionstart(self) -> None:
        """Let a property that fails not look for the smallest example."""
        settings.register_profile('mutants', settings(), database=None, derandomize=True,
                                  phases=[Phase.explicit, Phase.generate])
        settings.load_profile('mutants')

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Run everything."""
        self.trace(session.items)
        items = {item.nodeid: item for item in session.items}
        for k, mutant in enumerate(self.chosen):
            if len(self.running) >= self.jobs:
                self.end()
            names = self.tests_of(mutant)
            if not (pid := os.fork()):
                run(mutant, [items[name] for name in names], sum(map(self.seconds.get, names)))
            self.running[pid] = mutant, names
            if k % 20 == 19:
                print(f'{k + 1} of {len(self.chosen)} mutants', file=sys.stderr, flush=True)
        while self.running:
            self.end()
        return True

    def trace(self, items: list[pytest.Item]) -> None:
        """Run each test once: its time, and the lines that it reaches."""
        traced = coverage.Coverage(data_file=None, config_file=False, include=[f'{STEPS}/*'])
        for item in items:
            begin = time.process_time()
            with traced.collect():
                traced.switch_context(item.nodeid)
                failed = fails(item)
            self.seconds[item.nodeid] = time.process_time() - begin
            if failed:
                raise pytest.UsageError(f'{item.nodeid} fails without a mutant:\n{failed}')
        for path in (data := traced.get_data()).measured_files():
            for line, names in data.contexts_by_lineno(path).items():
                self.reached[Path(path).stem, line] |= set(names) - {''}

    def tests_of(self, mutant: Mutant) -> list[str]:
        """Return the tests that reach a mutant: those that kill much, and the quickest, first."""
        places = [(mutant.file, line) for line in mutant.lines]
        if mutant.value is not None:
            places = [(path.stem, node.lineno) for path in STEPS.glob('*.py')
                      for node in ast.walk(ast.parse(path.read_text()))
                      if isinstance(node, ast.Name) and node.id == mutant.name]
        left, names = BUDGET, []
        for name in sorted(set().union(*map(self.reached.__getitem__, places)),
                           key=lambda name: self.seconds[name] / (1 + self.killers[name])):
            left -= self.seconds[name]
            if left > 0.0 or not names:
                names.append(name)
        return names

    def end(self) -> None:
        """Wait for a mutant to end."""
        pid, status = os.wait()
        mutant, names = self.running.pop(pid)
        code = os.waitstatus_to_exitcode(status)
        if code > 0:
            self.killers[names[code - 1]] += 1
        elif code == 0:
            self.survived.append(mutant)
            print(f'survived {len(names)} tests: {mutant.file}.py:{mutant.lines[0]} {mutant}',
                  flush=True)


def run(mutant: Mutant, items: list[pytest.Item], seconds: float) -> None:
    """Run tests until one fails; exit with its number, 0 if none does."""
    limit = int(10 + ENDLESS * seconds)
    resource.setrlimit(resource.RLIMIT_CPU, (limit, limit))
    for descriptor in (1, 2):
        os.dup2(os.open(os.devnull, os.O_WRONLY), descriptor)
    mutant.apply()
    os._exit(next((min(k, 255) for k, item in enumerate(items, 1) if fails(item)), 0))


def fails(item: pytest.Item) -> str:
    """Run a test; return what it says if it fails."""
    item._initrequest()
    return '\n'.join(report.longreprtext for report in
                     runtestprotocol(item, nextitem=None, log=False) if report.failed)


def main() -> int:
    """Mutate; return 1 where fewer than TARGET are killed."""
    parser = argparse.ArgumentParser(prog="make prove ARGS='mutants ...'")
    parser.add_argument('files', nargs='*', help=', '.join(FILES) + ' (default: all)')
    parser.add_argument('--sample', type=int, help='so many mutants, chosen at random')
    parser.add_argument('--seed', type=int, default=1, help='of the choice (1)')
    parser.add_argument('--jobs', type=int, default=2, help='at a time (2)')
    parser.add_argument('--tests', nargs=argparse.REMAINDER, default=['test/faults'],
                        help='all that follows is for pytest')
    asked = parser.parse_args()
    found = [mutant for file in asked.files or FILES for mutant in mutants(file)]
    equivalent = {line.split(' # ')[0] for line in EQUIVALENT.read_text().splitlines()}
    counted = [mutant for mutant in found if str(mutant) not in equivalent]
    outdated = set() if asked.files else equivalent - set(map(str, found))
    chosen = counted if asked.sample is None else random.Random(asked.seed).sample(
        counted, min(asked.sample, len(counted)))
    tests = Tests(chosen, asked.jobs)
    code = pytest.main(['-q', '-p', 'no:cacheprovider', *asked.tests], plugins=[tests])
    killed = len(chosen) - len(tests.survived)
    share = 100 * killed / max(1, len(chosen))
    for name in sorted(outdated):
        print(f'no mutant any more: {name}')
    print(f'{killed} of {len(chosen)} mutants killed ({share:.1f} %), of {len(found)}, of which '
          f'{len(found) - len(counted)} change nothing')
    return int(bool(code or outdated or share < TARGET))


if __name__ == '__main__':
    sys.exit(main())
