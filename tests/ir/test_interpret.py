"""What needs a frame, or Python objects; `filetests/interpret` has the rest."""

import operator
import types

import pytest

from adbc.errors import ArgumentError, VerificationError
from adbc.ir import intrinsics as i
from adbc.ir.builder import Builder
from adbc.ir.graph import Graph
from adbc.ir.interpret import IterationLimitError, interpret
from adbc.ir.ops import call_form
from adbc.ir.parser import parse_graph

LOOP = "graph f(x)\nentry:\n    jump a\na:\n    jump a"


def run(body: str, *arguments, parameters: str = "x", constants=None, **options):
    return interpret(
        parse_graph(f"graph f({parameters})\nentry:\n    {body}", constants), *arguments, **options
    )


def test_free_variables():
    body = "%1 = freevar 1\n    %2 = cell_get %1 ('b', True)\n    %3 = cell_set %1, %x\n    return %2"
    graph = parse_graph(f"graph f(x) free a, b\nentry:\n    {body}")
    cell = types.CellType("old")
    assert interpret(graph, "new", closure=(types.CellType(), cell)) == "old"
    assert cell.cell_contents == "new"
    with pytest.raises(ArgumentError, match="2 free variables, but 0 cells"):
        interpret(graph, 1)


def test_number_of_arguments():
    with pytest.raises(ArgumentError, match="graph f has 1 arguments, but 2 were given"):
        run("return %x", 1, 2)


def test_builtins_come_from_the_globals():
    body = "%1 = global 'len'\n    return %1"
    assert run(body, 0) is len
    assert run(body, 0, globals={"__builtins__": {"len": "mine"}}) == "mine"
    assert run(body, 0, globals={"__builtins__": operator, "len": "global"}) == "global"
    assert run(body, 0, builtins={"len": "given"}) == "given"
    with pytest.raises(NameError) as caught:
        run(body, 0, builtins={})
    assert caught.value.name == "len"


def test_globals_are_changed_in_place():
    variables = {"old": 1}
    body = "%1 = store_global %x 'new'\n    %2 = delete_global 'old'\n    %3 = globals\n    return %3"
    assert run(body, 5, globals=variables) is variables
    assert variables == {"new": 5}


def test_relative_imports_read_the_globals():
    body = "%1 = import_name 1, ('parse',) ''\n    return %1"
    module = run(body, 0, globals={"__package__": "urllib", "__name__": "urllib.test"})
    assert module.__name__ == "urllib" and hasattr(module, "parse")


def test_intrinsics_that_need_a_frame_in_normal_form():
    body = (
        "%1 = call _global_('g')\n    %2 = call _store_global_('h', %1)\n"
        "    %3 = call _globals_()\n    return %3"
    )
    assert run(body, 0, globals={"g": 7}) == {"g": 7, "h": 7}


def outer(seed):
    def inner(a, b=2, *, c=3) -> int:
        return a + b + c + seed + SCALE  # noqa: F821  # a global of the frame that makes the function

    return inner


@pytest.mark.parametrize("normal", [False, True])
@pytest.mark.parametrize("annotations", [("return", int), {"return": int}, None])
def test_make_function(normal, annotations):
    code = outer(0).__code__
    graph = Graph("f")
    builder = Builder(graph)
    cell = builder.emit("cell_new", 1000)
    closure = builder.emit("build_tuple", cell)
    parts = (code, (20,), {"c": 300}, annotations, closure)
    if normal:
        made = builder.call(i._new_, types.FunctionType, *parts)
    else:
        made = builder.emit("make_function", *parts)
    builder.ret(made)
    variables = {"SCALE": 4000, "__name__": "somewhere"}
    function = interpret(graph, globals=variables)
    assert function(1) == 1 + 20 + 300 + 1000 + 4000
    assert function.__globals__ is variables
    assert function.__module__ == "somewhere" and function.__qualname__ == code.co_qualname
    assert function.__annotations__ == ({} if annotations is None else {"return": int})


def test_make_function_with_nothing():
    graph = Graph("f")
    builder = Builder(graph)
    builder.ret(builder.emit("make_function", (lambda: 5).__code__, None, None, None, None))
    function = interpret(graph)
    assert function() == 5
    assert function.__defaults__ is function.__kwdefaults__ is function.__closure__ is None


def test_foreign_calls_apply_and_keywords():
    assert run("%1 = call _foreigncall_(builtins.sorted, %x, reverse=True)\n    return %1", [1, 3, 2]) == [
        3,
        2,
        1,
    ]
    body = "%1 = apply builtins.dict, %x, %y\n    return %1"
    assert run(body, ([("a", 1)],), {"b": 2}, parameters="x, y") == {"a": 1, "b": 2}
    body = "%1 = call _apply_(builtins.dict, %x, %y)\n    return %1"
    assert run(body, ([("a", 1)],), {"b": 2}, parameters="x, y") == {"a": 1, "b": 2}
    assert run("%1 = call builtins.dict(%x, b=2)\n    return %1", [("a", 1)]) == {"a": 1, "b": 2}


def test_limit():
    graph = parse_graph(LOOP)
    with pytest.raises(IterationLimitError, match="more than 10 blocks"):
        interpret(graph, 0, limit=10)
    assert interpret(parse_graph("graph f(x)\nentry:\n    return %x"), 5, limit=1) == 5


def test_a_bare_raise_sees_what_the_caller_handles():
    graph = parse_graph("graph f()\nentry:\n    raise")
    error = ValueError("of the caller")
    try:
        raise error
    except ValueError:
        with pytest.raises(ValueError, match="of the caller") as caught:
            interpret(graph)
    assert caught.value is error


def test_the_handler_gets_the_exception_itself():
    error = KeyError("k")

    def fail():
        raise error

    graph = parse_graph(
        "graph f(g)\nentry: handler h\n    %1 = call %g()\n    return %1\nh:\n    %e = catch\n    return %e"
    )
    assert interpret(graph, fail) is error


def test_handlers_see_exceptions_that_are_not_errors():
    def fail():
        raise KeyboardInterrupt

    graph = parse_graph(
        "graph f(g)\nentry: handler h\n    %1 = call %g()\n    return %1\nh:\n    %e = catch\n    raise %e"
    )
    with pytest.raises(KeyboardInterrupt):
        interpret(graph, fail)


def test_raise_from_none_hides_the_context():
    with pytest.raises(ValueError) as caught:
        run("raise %x from None", ValueError)
    assert caught.value.__suppress_context__ and caught.value.__cause__ is None


def test_only_the_last_instruction_of_a_protected_block_may_raise():
    graph = parse_graph(
        "graph f(x)\nentry: handler h\n    %1 = truediv 1, %x\n    %2 = neg %1\n    return %2\n"
        "h:\n    %e = catch\n    return 'handled'"
    )
    assert interpret(graph, 1) == -1
    with pytest.raises(VerificationError, match="raised, but is not the last") as caught:
        interpret(graph, 0)
    assert isinstance(caught.value.__cause__, ZeroDivisionError)


def test_findings_are_not_handled_by_the_graph():
    graph = parse_graph(
        "graph f(x)\nentry: handler h\n    %1 = neg %x\n    branch %1, a, b\n"
        "a:\n    return 1\nb:\n    return 2\n"
        "h:\n    %e = catch\n    return 'handled'"
    )
    with pytest.raises(VerificationError, match="branches on -1, which is not a bool"):
        interpret(graph, 1)


def test_undefined_values_may_be_merged_but_not_used():
    graph = parse_graph(
        "graph f(x)\nentry:\n    branch %x, a, b\na:\n    jump b\nb:\n    %p = phi [entry: undef, a: 1]\n"
        "    branch %x, c, d\nc:\n    return %p\nd:\n    jump e\n"
        "e:\n    %q = phi [d: %p]\n    %1 = neg %q\n    return 0"
    )
    assert interpret(graph, True) == 1
    with pytest.raises(VerificationError, match="which has no value"):
        interpret(graph, False)


def test_unreachable_is_not_reached():
    with pytest.raises(VerificationError, match="reached unreachable"):
        run("unreachable", 0)


@pytest.mark.parametrize(
    ("line", "normal"),
    [
        ("%1 = mul %x, 2", "call operator.mul(%x, 2)"),
        ("%1 = setattr %x, 2 'name'", "call _setattr_(%x, 'name', 2)"),
        ("%1 = cell_get %x ('y', True)", "call _cell_get_(%x, 'y', True)"),
        ("%1 = cell_set %x, 2 ('y', True)", "call _cell_set_(%x, 2)"),
        ("%1 = import_name 0, None 'os'", "call _import_('os', 0, None)"),
        ("%1 = format %x, '' 2", "call _format_(%x, 2, '')"),
        ("%1 = store_global %x 'g'", "call _store_global_('g', %x)"),
        ("%1 = unpack_ex %x (1, 2)", "call _unpack_ex_(%x, 1, 2)"),
        ("%1 = build_list %x, 1", "call _new_(builtins.list, %x, 1)"),
        ("%1 = call %x(1, a=2)", "call %x(1, a=2)"),
    ],
)
def test_call_form(line, normal):
    graph = parse_graph(f"graph f(x)\nentry:\n    {line}\n    return %1")
    (instruction,) = graph.entry.instructions
    instruction.operands = call_form(instruction)
    instruction.op, instruction.attribute = "call", None
    assert f"%1 = {normal}\n" in str(graph)
