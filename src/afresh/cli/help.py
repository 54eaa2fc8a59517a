"""`afresh help`."""

import click


@click.command("help")
@click.argument("names", nargs=-1, metavar="[COMMAND]...")
@click.pass_context
def command(context: click.Context, names: tuple[str, ...]) -> None:
    """Show the help of COMMAND, such as `afresh help run`; without one, list all commands."""
    at = context.find_root()
    for name in names:
        group = at.command
        if not isinstance(group, click.Group):
            raise click.UsageError(f"{at.command_path} has no subcommands", at)
        _, found, _ = group.resolve_command(at, [name])
        assert found, "an unknown name is a UsageError"
        at = click.Context(found, at, name)
    click.echo(at.get_help())
