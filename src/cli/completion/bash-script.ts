import type { CommandEntry } from "../help/command-tree.ts";
import {
  type CompletionPlace,
  completionTable,
  type Filler,
  groupPaths,
  valuedOptions,
} from "./completion-table.ts";
import { shellQuoted } from "./shell-quoted.ts";

const FILLERS: Readonly<Record<Filler, string>> = {
  files: '_repsync_paths -f "$2"',
  folders: '_repsync_paths -d "$2"',
  tables: "words=$(repsync completion-tables 2>/dev/null)",
};

/** The completion script of bash. It needs nothing but bash, 3.2 or later. D-10.13. */
export function bashScript(root: CommandEntry): string {
  return `# bash completion for repsync, made by: repsync completion bash
_repsync_paths() {
  local IFS=$'\\n'
  compopt -o filenames 2>/dev/null
  COMPREPLY=($(compgen "$1" -- "$2"))
}

_repsync_place() {
  local words=""
  case $1 in
${completionTable(root).map(branch).join("\n")}
    *) return 1 ;;
  esac
  if [[ -n $words ]]; then COMPREPLY=($(compgen -W "$words" -- "$2")); fi
}

_repsync() {
  local word option="" commands=repsync place=0 i
  local current=\${COMP_WORDS[COMP_CWORD]}
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; i++)); do
    word=\${COMP_WORDS[i]}
    # Bash takes --format=csv apart at the sign.
    [[ $word == = ]] && continue
    if [[ -n $option ]]; then option=""; continue; fi
    case "$commands $word" in
      ${valuedOptions(root).map(shellQuoted).join(" | ")}) option=$word ;;
      *" -"?*) ;;
      ${groupPaths(root).map(shellQuoted).join(" | ")}) commands="$commands $word" ;;
      *) place=$((place + 1)) ;;
    esac
  done
  [[ $current == = ]] && current=""
  if [[ -n $option ]]; then
    _repsync_place "$commands $option" "$current"
  elif [[ $current == -* ]]; then
    _repsync_place "$commands --" "$current"
  else
    _repsync_place "$commands" "$current" || _repsync_place "$commands $place" "$current" ||
      _repsync_place "$commands ..." "$current"
  fi
  return 0
}

complete -F _repsync repsync
`;
}

function branch({ key, candidates, filler }: CompletionPlace): string {
  const words = candidates.map(({ word }) => word).join(" ");
  const does = filler === null ? `words=${shellQuoted(words)}` : FILLERS[filler];
  return `    ${shellQuoted(key)}) ${does} ;;`;
}
