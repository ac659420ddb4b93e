"""The most common mistake of all, output that is not flushed, and what mends it in which language.

The language is guessed from the bot's command and, where that is a program of its own, from the
sources beside it.
"""

from __future__ import annotations

from pathlib import Path

from referee.bots.manifest import Bot

REMEDIES = {
    "Python": "in Python write print(…, flush=True), or start it with python3 -u",
    "JavaScript": "in Node answer each line as it comes, not at the end event of the input",
    "C": "in C call fflush(stdout) after each line",
    "C++": "in C++ end each line with std::endl, or write std::flush",
    "Rust": "in Rust call flush() on what you write to, stdout().flush() or the BufWriter's",
    "Go": "in Go call Flush() on the bufio.Writer after each line",
    "Java": "in Java call System.out.flush(), or make the PrintWriter with autoflush",
    "C#": "in C# set AutoFlush of the writer, or call Console.Out.Flush()",
    "Perl": "in Perl set $| = 1 at the top",
    "Ruby": "in Ruby set $stdout.sync = true at the top",
    "Tcl": "in Tcl write fconfigure stdout -buffering line at the top",
    "PHP": "in PHP call fflush(STDOUT) after each line",
    "Lua": 'in Lua write io.stdout:setvbuf("line") at the top',
    "Bash": "in a shell the programs in a pipe hold back: jq --unbuffered, sed -u, stdbuf -oL",
}
ELSE = "write each line with a flush behind it"

COMMANDS = {
    "python": "Python",
    "pypy": "Python",
    "node": "JavaScript",
    "deno": "JavaScript",
    "bun": "JavaScript",
    "java": "Java",
    "kotlin": "Java",
    "go": "Go",
    "cargo": "Rust",
    "dotnet": "C#",
    "mono": "C#",
    "perl": "Perl",
    "ruby": "Ruby",
    "tclsh": "Tcl",
    "php": "PHP",
    "lua": "Lua",
    "bash": "Bash",
    "sh": "Bash",
}
SUFFIXES = {
    ".py": "Python",
    ".js": "JavaScript",
    ".mjs": "JavaScript",
    ".c": "C",
    ".cc": "C++",
    ".cpp": "C++",
    ".cxx": "C++",
    ".rs": "Rust",
    ".go": "Go",
    ".java": "Java",
    ".jar": "Java",
    ".cs": "C#",
    ".pl": "Perl",
    ".rb": "Ruby",
    ".tcl": "Tcl",
    ".php": "PHP",
    ".lua": "Lua",
    ".sh": "Bash",
}


def language(bot: Bot) -> str | None:
    """What the bot is written in, by its looks; None where they do not tell."""
    program = Path(bot.command[0]).name.lower()
    # python3.12 and node-22 are python and node.
    plain = program.rstrip("0123456789.-")
    if plain in COMMANDS and plain not in ("sh", "bash"):
        return COMMANDS[plain]
    named = [SUFFIXES[Path(word).suffix] for word in bot.command if Path(word).suffix in SUFFIXES]
    if named:
        return named[0]
    if plain in COMMANDS:
        return COMMANDS[plain]
    if bot.folder is None:
        return None
    beside = sorted(path.suffix for path in bot.folder.iterdir() if path.suffix in SUFFIXES)
    return SUFFIXES[beside[0]] if beside else None


def remedy(bot: Bot) -> str:
    """How a bot in this language flushes its output."""
    return REMEDIES.get(language(bot) or "", ELSE)
