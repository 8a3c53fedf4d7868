import type { CommandEntry } from "../help/command-tree.ts";
import {
  type Candidate,
  type CompletionPlace,
  completionTable,
  type Filler,
  groupPaths,
  valuedOptions,
} from "./completion-table.ts";

const FILLERS: Readonly<Record<Filler, string>> = {
  files: "__fish_complete_path $argv[2]",
  folders: "__fish_complete_directories $argv[2]",
  tables: "repsync completion-tables 2>/dev/null",
};

/** The completion script of fish. D-10.13. */
export function fishScript(root: CommandEntry): string {
  return `# fish completion for repsync, made by: repsync completion fish
function __repsync_place
    switch $argv[1]
${completionTable(root).map(branch).join("\n")}
        case '*'
            return 1
    end
    return 0
end

function __repsync_complete
    set -l option ''
    set -l commands repsync
    set -l place 0
    set -l typed (commandline -opc)
    for word in $typed[2..-1]
        if test -n "$option"
            set option ''
            continue
        end
        switch "$commands $word"
            case ${valuedOptions(root).map(fishQuoted).join(" ")}
                set option $word
            case '* -?*'
            case ${groupPaths(root).map(fishQuoted).join(" ")}
                set commands "$commands $word"
            case '*'
                set place (math $place + 1)
        end
    end
    set -l current (commandline -ct)
    if test -n "$option"
        __repsync_place "$commands $option" "$current"
    else if string match -qr '^--.*=' -- "$current"
        set -l parts (string split -m 1 = -- "$current")
        __repsync_place "$commands $parts[1]" "$parts[2]" | string replace -r -- '^' "$parts[1]="
    else if string match -q -- '-*' "$current"
        __repsync_place "$commands --" "$current"
    else
        __repsync_place "$commands" "$current"
        or __repsync_place "$commands $place" "$current"
        or __repsync_place "$commands ..." "$current"
    end
end

complete -c repsync -f -a '(__repsync_complete)'
`;
}

function branch({ key, candidates, filler }: CompletionPlace): string {
  const lines = filler === null ? candidates.map(printed) : [FILLERS[filler]];
  return [`case ${fishQuoted(key)}`, ...lines.map((line) => `    ${line}`)]
    .map((line) => `        ${line}`)
    .join("\n");
}

function printed({ word, description }: Candidate): string {
  return description === ""
    ? `echo ${fishQuoted(word)}`
    : `printf '%s\\t%s\\n' ${fishQuoted(word)} ${fishQuoted(description)}`;
}

function fishQuoted(text: string): string {
  return `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
}
