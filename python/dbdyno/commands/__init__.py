"""One file per subcommand: parse, call, print, exit code. No logic."""
