"""Commands that show what there is: datasets, methods, demo, and completion, which is click's own."""

import click
from click.shell_completion import get_completion_class

from gelato import PROGRAM
from gelato.cli.display import print_outcome, print_result, progress_bar
from gelato.cli.option_types import Count, Number
from gelato.cli.options import DATA_ROOT

VARIABLE = "_GELATO_COMPLETE"
"""The environment variable through which the shell asks; click derives its name from that of the command."""


@click.command(epilog="Example: gelato datasets --json")
@DATA_ROOT
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def datasets(data_root: str | None, as_json: bool) -> None:
    """List the known datasets, their sizes, and where they are stored."""
    from gelato.datasets import list_datasets

    rows = list_datasets(data_root)
    print_outcome(as_json, rows, lambda tables: tables.dataset_table(rows))


@click.command(epilog="Example: gelato methods")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def methods(as_json: bool) -> None:
    """List all methods that --method accepts, with their costs and options."""
    from gelato.evaluation.method_options import described_methods

    rows = described_methods()
    print_outcome(as_json, rows, lambda tables: tables.method_table(rows))


@click.command(epilog="Example: gelato demo")
@click.option("--budget", type=Number(min=0), metavar="MINUTES", help="Time limit for comparing methods  [default: 3]")
@click.option("--threads", type=Count(1), metavar="N", help="Number of threads  [default: all cores]")
@click.option("--quiet", is_flag=True, help="Show no progress.")
def demo(budget: float | None, threads: int | None, quiet: bool) -> None:
    """Evaluate every heuristic, Gelato and auto on the built-in sample graph, and show the ten best missing links."""
    from gelato.demo import demonstrate

    with progress_bar("demo", quiet, unit="methods") as progress:
        parts = demonstrate(budget=budget, threads=threads, progress=progress)
    for part in parts:
        print_result(part)


@click.command(epilog="\b\nExample:\n  gelato completion bash > ~/.local/share/bash-completion/completions/gelato")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion(context: click.Context, shell: str) -> None:
    """Print a shell script that completes gelato's commands, options and files when you press TAB.

    Save it where the shell looks for it (create the folder if necessary), then open a new shell:

    \b
    bash  ~/.local/share/bash-completion/completions/gelato
          (needs bash 4.4 and the package bash-completion)
    zsh   a file called _gelato in a folder of $fpath
    fish  ~/.config/fish/completions/gelato.fish

    Or for one session: eval "$(gelato completion bash)"
    """
    script = get_completion_class(shell)
    assert script is not None  # click knows the three shells
    source = script(context.find_root().command, {}, PROGRAM, VARIABLE)
    print(source.source_template % source.source_vars(), end="")  # source() would start bash to ask for its version
