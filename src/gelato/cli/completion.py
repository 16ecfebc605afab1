"""The command completion: prints the script with which a shell completes gelato's commands, options and files at TAB.

The completion itself is click's own: it offers files and folders where a parameter is a ``click.Path``.
"""

import click
from click.shell_completion import get_completion_class

from gelato import PROGRAM

VARIABLE = "_GELATO_COMPLETE"
"""The environment variable through which the shell asks; click derives its name from that of the command."""
SHELLS = ("bash", "zsh", "fish")


@click.command(
    epilog="\b\nExample:\n  gelato completion bash > ~/.local/share/bash-completion/completions/gelato",
)
@click.argument("shell", type=click.Choice(SHELLS))
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
