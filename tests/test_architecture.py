"""The architecture as a test: who may import whom, what stays pure, and how big things may get."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
MAX_FILE = 350
MAX_FUNCTION = 40

# Bottom to top: a module imports its own layer and those below it, never one above.
# A name that ends in a dot stands for everything in that package.
_LAYERS = """
drivers drivers. daemon daemon.errors daemon.rules daemon.rules.
daemon.games daemon.games. daemon.events daemon.alerts daemon.commands daemon.commitments \
    daemon.setup
daemon.passes daemon.sweep daemon.dealorder daemon.evidence daemon.presence daemon.hand \
    daemon.deal daemon.chain
daemon.state daemon.otherdeck daemon.dealing daemon.board daemon.folds daemon.lastone \
    daemon.closing daemon.corrections daemon.review daemon.floor daemon.table daemon.wire \
    daemon.recording \
    daemon.engine daemon.upcards daemon.phh daemon.antennas \
    daemon.decks daemon.config daemon.deals daemon.deal_cards daemon.deal_corrections \
    daemon.delay daemon.sealing daemon.shoe daemon.witness daemon.watchdog daemon.suspicion \
    daemon.noise daemon.chances daemon.thirdstreet
daemon.odds daemon.odds. daemon.records daemon.signing daemon.recordfile daemon.recordcheck \
    daemon.verify daemon.openings daemon.schema daemon.topics \
    daemon.journalfile daemon.outbox daemon.journal \
    daemon.address daemon._dial daemon._aiomqtt daemon.claim daemon.mqtt daemon.memory \
    daemon.readers daemon.broker daemon.notify daemon.logs daemon.recorder daemon.replay \
    daemon.resend daemon.enrolment daemon.teach_in daemon.metrics daemon.reload daemon.access \
    daemon.calculator \
    daemon.check daemon.checks daemon.checks.
daemon.app daemon.web daemon.web.
daemon.show daemon.demo daemon.demo_play daemon.demo_table daemon.watch
daemon.cli daemon.cli.
daemon.__main__
"""
LAYERS = tuple(tuple(line.split()) for line in _LAYERS.strip().splitlines())
PURE = (
    *("daemon.errors", "daemon.rules", "daemon.rules.", "daemon.games", "daemon.games."),
    *("daemon.events", "daemon.alerts", "daemon.commands", "daemon.commitments", "daemon.setup"),
    *(
        "daemon.evidence",
        "daemon.sweep",
        "daemon.presence",
        "daemon.hand",
        "daemon.state",
        "daemon.dealing",
        "daemon.otherdeck",
        "daemon.board",
    ),
    *(
        "daemon.folds",
        "daemon.lastone",
        "daemon.closing",
        "daemon.corrections",
        "daemon.review",
        "daemon.floor",
        "daemon.table",
    ),
    *("daemon.wire", "daemon.recording", "daemon.engine", "daemon.upcards"),
    "daemon.antennas",
    *("daemon.delay", "daemon.passes", "daemon.shoe", "daemon.witness", "daemon.chances"),
    *("daemon.deal", "daemon.deals", "daemon.deal_cards", "daemon.deal_corrections"),
    *("daemon.web.follow", "daemon.web.picture"),
    *("daemon.noise", "daemon.watchdog", "daemon.suspicion"),
    *("daemon.dealorder", "daemon.thirdstreet"),
    *("daemon.chain", "daemon.records"),
)
IMPURE = {
    *("asyncio", "time", "random", "secrets", "socket", "os", "io", "logging", "threading"),
    *("subprocess", "signal", "pathlib", "tempfile", "sqlite3", "aiomqtt", "serial"),
}


def name_of(path):
    name = ".".join(path.relative_to(ROOT).with_suffix("").parts)
    return name.removesuffix(".__init__")


def modules():
    paths = [*(ROOT / "daemon").rglob("*.py"), *(ROOT / "drivers").rglob("*.py")]
    return {name_of(path): path for path in sorted(paths)}


MODULES = modules()
TREES = {name: ast.parse(path.read_text(encoding="utf-8")) for name, path in MODULES.items()}


def for_types_only(tree):
    """The nodes below `if TYPE_CHECKING`: they are never executed."""
    blocks = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.If)
        and isinstance(node.test, ast.Name)
        and node.test.id == "TYPE_CHECKING"
    ]
    return {id(inner) for block in blocks for inner in ast.walk(block)}


def imports(name, *, typing=True):
    """Every module that `name` imports, the submodules that `from package import x` means too."""
    tree = TREES[name]
    skipped = set() if typing else for_types_only(tree)
    found = set()
    for node in ast.walk(tree):
        if id(node) in skipped:
            continue
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{name}: relative import"
            assert node.module
            parts = {f"{node.module}.{alias.name}" for alias in node.names}
            inner = {part for part in parts if part in MODULES}
            found |= inner if len(inner) == len(parts) else {node.module, *inner}
    return found - {name}


def within(name, group):
    return any(
        name.startswith(member) if member.endswith(".") else name == member for member in group
    )


def layer(name):
    found = [number for number, group in enumerate(LAYERS) if within(name, group)]
    assert len(found) == 1, f"{name} has no layer of its own here: give it one"
    return found[0]


def ours(names):
    return {name for name in names if name.partition(".")[0] in {"daemon", "drivers"}}


@pytest.mark.parametrize("name", MODULES)
def test_imports_run_one_way(name):
    for other in ours(imports(name)):
        assert layer(other) <= layer(name), f"{name} imports {other} from above"


@pytest.mark.parametrize("name", [name for name in MODULES if within(name, PURE)])
def test_the_core_is_pure(name):
    imported = imports(name, typing=False)
    assert not {other.partition(".")[0] for other in imported} & IMPURE
    for other in ours(imported):
        assert within(other, PURE) or other == "drivers", f"{name} imports {other}"
    reads = [
        node
        for node in ast.walk(TREES[name])
        if isinstance(node, ast.Call) and ast.unparse(node.func) in {"open", "print", "input"}
    ]
    assert not reads


def test_the_pure_list_names_what_there_is():
    assert {member for member in PURE if not member.endswith(".")} <= set(MODULES)
    assert {m for group in LAYERS for m in group if not m.endswith(".")} <= set(MODULES)
    assert len(LAYERS) == 9


def test_what_looks_are_imports_nothing_impure():
    imported = {name.partition(".")[0] for name in imports("drivers", typing=False)}
    assert not imported & IMPURE


def test_drivers_know_nothing_of_the_daemon():
    for name in MODULES:
        if within(name, ("drivers", "drivers.")):
            assert not within("daemon", {each.partition(".")[0] for each in imports(name)}), name


def test_the_emulators_are_no_part_of_the_daemon():
    for name in MODULES:
        outside = not within(name, ("drivers.sim", "drivers.sim."))
        if outside:
            assert not any(within(i, ("drivers.sim", "drivers.sim.")) for i in imports(name)), name


def test_there_are_no_import_cycles():
    graph = {name: ours(imports(name, typing=False)) & set(MODULES) for name in MODULES}
    while graph:
        free = [name for name, needed in graph.items() if not needed & set(graph)]
        assert free, f"a cycle among {sorted(graph)}"
        for name in free:
            del graph[name]


@pytest.mark.parametrize("name", MODULES)
def test_files_and_functions_stay_small(name):
    lines = MODULES[name].read_text(encoding="utf-8").splitlines()
    assert len(lines) <= MAX_FILE
    for node in ast.walk(TREES[name]):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            assert node.end_lineno is not None
            length = node.end_lineno - node.lineno + 1
            assert length <= MAX_FUNCTION, f"{node.name} has {length} lines"


@pytest.mark.parametrize("name", MODULES)
def test_everything_is_typed(name):
    for node in ast.walk(TREES[name]):
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        arguments = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
        arguments += [each for each in (node.args.vararg, node.args.kwarg) if each]
        bare = [
            argument.arg
            for argument in arguments
            if argument.annotation is None and argument.arg not in {"self", "cls"}
        ]
        assert not bare, f"{node.name}: {bare}"
        assert node.returns is not None, node.name


@pytest.mark.parametrize("name", MODULES)
def test_no_exception_is_caught_wholesale(name):
    """What catches everything has to let it go on: cleaning up is allowed, swallowing is not."""
    for node in ast.walk(TREES[name]):
        if not isinstance(node, ast.ExceptHandler):
            continue
        caught = "BaseException" if node.type is None else ast.unparse(node.type)
        if caught in {"Exception", "BaseException"}:
            last = node.body[-1]
            assert isinstance(last, ast.Raise), f"{name}, line {node.lineno}"
            assert last.exc is None, f"{name}, line {node.lineno}"
