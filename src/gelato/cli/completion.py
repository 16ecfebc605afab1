"""The command completion: what makes a shell complete commands, options and files of gelato at TAB."""

from typing import Any

import click
from click.shell_completion import (
    BashComplete,
    CompletionItem,
    FishComplete,
    ShellComplete,
    ZshComplete,
    add_completion_class,
)

VARIABLE = "_GELATO_COMPLETE"
"""What the shell asks through; click derives the name from that of the command."""


class FilesOtherwise(ShellComplete):
    """Completes the names of files where click knows nothing better, such as GRAPH and FILE."""

    def get_completions(self, args: list[str], incomplete: str) -> list[CompletionItem[Any]]:
        """What may stand here; files, if that is not told and it does not begin like an option."""
        found = super().get_completions(args, incomplete)
        return found if found or incomplete.startswith("-") else [CompletionItem(incomplete, type="file")]


class Bash(FilesOtherwise, BashComplete):
    """Bash, from 4.4 on."""


class Zsh(FilesOtherwise, ZshComplete):
    """Zsh."""


class Fish(FilesOtherwise, FishComplete):
    """Fish."""


SHELLS: dict[str, type[ShellComplete]] = {"bash": Bash, "zsh": Zsh, "fish": Fish}
for _name, _shell in SHELLS.items():
    add_completion_class(_shell, _name)  # in place of click's own


@click.command(
    epilog="\b\nExample:\n  gelato completion bash > ~/.local/share/bash-completion/completions/gelato",
)
@click.argument("shell", type=click.Choice(list(SHELLS)))
@click.pass_context
def completion(context: click.Context, shell: str) -> None:
    """Print the script that makes a shell complete gelato's commands, options and files at TAB.

    Put it where the shell looks for it (make the folder if there is none), then open a new shell:

    \b
    bash  ~/.local/share/bash-completion/completions/gelato
          (needs bash 4.4 and the package bash-completion)
    zsh   a file called _gelato in a folder of $fpath
    fish  ~/.config/fish/completions/gelato.fish

    Or for one session: eval "$(gelato completion bash)"
    """
    root = context.find_root()
    made = SHELLS[shell](root.command, {}, "gelato", VARIABLE)
    print(made.source_template % made.source_vars(), end="")  # source() would start bash to ask for its version
