# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Mutation of the guard in plain Python: `make prove ARGS=mutants`.

Each comparison, sign, constant, `and` and `or` in the functions of FILES, and each number in their
modules, is changed, one at a time, in a fork of a process that has run the tests of the tables
once. Those that reach the changed lines run, quickest first, until one fails: the mutant is
killed, as it is if it does not end. Mutants that change nothing are in `equivalent_mutants.txt`,
each with its reason. (cosmic-ray would start pytest for each mutant, which takes seconds; mutmut
knows the tests of functions, not of lines, and wraps functions that rows of test/faults find.)
"""

import ast
from collections import Counter, defaultdict
from collections.abc import Iterator
import copy
from importlib import import_module
import os
from pathlib import Path
import resource
import sys
import time
from typing import NamedTuple

from _pytest.runner import runtestprotocol
import coverage
import pytest
import robodyn_ros

STEPS = Path(robodyn_ros.__file__).parent / 'control' / 'steps'
FILES = ('guard', 'plausibility', 'motion_checks', 'limits', 'phase_efforts', 'frozen_readings',
         'motor_test')
TABLES = [str(Path(__file__).parent / 'control' / f'test_{file}_table.py') for file in FILES]
EQUIVALENT = Path(__file__).with_name('equivalent_mutants.txt')
TARGET = 95             # % of the mutants that change something
ENDLESS = 10            # s of CPU
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
        before = getattr(module, self.name)
        if self.value is None:
            tree = ast.fix_missing_locations(ast.Module([self.code], []))
            before.__code__, = (c for c in compile(tree, module.__file__, 'exec').co_consts
                                if hasattr(c, 'co_code'))
            return
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

    def __init__(self, chosen: list[Mutant]):
        self.chosen, self.survived = chosen, Counter[str]()
        self.seconds: dict[pytest.Item, float] = {}
        self.reached: dict[tuple[str, int], set[pytest.Item]] = defaultdict(set)
        self.running: dict[int, Mutant] = {}

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool | None:
        """Run everything."""
        if session.testsfailed:
            return None         # while they were collected, which pytest reports
        self.trace(session.items)
        for mutant in self.chosen:
            if len(self.running) >= (os.cpu_count() or 1):
                self.end()
            places = [(mutant.file, line) for line in mutant.lines]
            items = session.items if mutant.value is not None else set().union(
                *map(self.reached.__getitem__, places))
            if not (pid := os.fork()):
                run(mutant, sorted(items, key=self.seconds.__getitem__))
            self.running[pid] = mutant
        while self.running:
            self.end()
        return True

    def trace(self, items: list[pytest.Item]) -> None:
        """Run each test once: its time, and the lines that it reaches."""
        traced = coverage.Coverage(data_file=None, config_file=False, include=[f'{STEPS}/*'])
        named = {item.nodeid: item for item in items}
        for item in items:
            begin = time.process_time()
            with traced.collect():
                traced.switch_context(item.nodeid)
                failed = fails(item)
            self.seconds[item] = time.process_time() - begin
            if failed:
                raise pytest.UsageError(f'{item.nodeid} fails without a mutant:\n{failed}')
        for path in (data := traced.get_data()).measured_files():
            for line, names in data.contexts_by_lineno(path).items():
                self.reached[Path(path).stem, line] |= {named[name] for name in names if name}

    def end(self) -> None:
        """Wait for a mutant to end."""
        pid, status = os.wait()
        mutant = self.running.pop(pid)
        if status == 0:
            self.survived[mutant.file] += 1
            print(f'survived: {mutant.file}.py:{mutant.lines[0]} {mutant}', flush=True)


def run(mutant: Mutant, items: list[pytest.Item]) -> None:
    """Run tests until one fails; exit with 1 then, with 0 if none does."""
    resource.setrlimit(resource.RLIMIT_CPU, (ENDLESS, ENDLESS))
    for descriptor in (1, 2):
        os.dup2(os.open(os.devnull, os.O_WRONLY), descriptor)
    mutant.apply()
    os._exit(any(map(fails, items)))


def fails(item: pytest.Item) -> str:
    """Run a test; return what it says if it fails."""
    item._initrequest()
    return '\n'.join(report.longreprtext for report in
                     runtestprotocol(item, nextitem=None, log=False) if report.failed)


def main(files: list[str]) -> int:
    """Mutate all files, or some of them; return 1 where fewer than TARGET are killed."""
    found = {file: list(mutants(file)) for file in files or FILES}
    everything = [mutant for of_file in found.values() for mutant in of_file]
    equivalent = {line.split(' # ')[0] for line in EQUIVALENT.read_text().splitlines()}
    chosen = [mutant for mutant in everything if str(mutant) not in equivalent]
    tests, begin = Tests(chosen), time.monotonic()
    code = pytest.main(['-q', '-p', 'no:cacheprovider', *TABLES], plugins=[tests])
    print(f'{"":16}mutants  equivalent  killed  survived')
    for file, of_file in found.items():
        same = sum(str(mutant) in equivalent for mutant in of_file)
        killed = len(of_file) - same - tests.survived[file]
        print(f'{file:16}{len(of_file):7}{same:12}{killed:8}{tests.survived[file]:10}')
    for name in sorted(() if files else equivalent - set(map(str, everything))):
        code = 1
        print(f'no mutant any more: {name}')
    share = 100 * (1 - tests.survived.total() / max(1, len(chosen)))
    print(f'{share:.1f} % of {len(chosen)} mutants killed in {time.monotonic() - begin:.0f} s')
    return int(bool(code) or share < TARGET)


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
