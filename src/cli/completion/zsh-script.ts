import type { CommandEntry } from "../help/command-tree.ts";
import {
  type Candidate,
  type CompletionPlace,
  completionTable,
  type Filler,
  groupPaths,
  valuedOptions,
} from "./completion-table.ts";
import { shellQuoted } from "./shell-quoted.ts";

const FILLERS: Readonly<Record<Filler, string>> = {
  files: "_files; return 0",
  folders: "_files -/; return 0",
  tables: `found=(\${(f)"$(repsync completion-tables 2>/dev/null)"})`,
};

/** The completion script of zsh, for a folder of `fpath` or for `eval`. D-10.13. */
export function zshScript(root: CommandEntry): string {
  return `#compdef repsync
# zsh completion for repsync, made by: repsync completion zsh
_repsync_place() {
  local -a found
  case $1 in
${completionTable(root).map(branch).join("\n")}
    *) return 1 ;;
  esac
  (( $#found )) && _describe -t values repsync found
  return 0
}

_repsync() {
  local word option="" commands=repsync
  integer i place=0
  for ((i = 2; i < CURRENT; i++)); do
    word=\${words[i]}
    if [[ -n $option ]]; then option=""; continue; fi
    case "$commands $word" in
      ${valuedOptions(root)
        .map((option) => `(${shellQuoted(option)})`)
        .join("|")}) option=$word ;;
      (*" -"?*)) ;;
      ${groupPaths(root)
        .map((path) => `(${shellQuoted(path)})`)
        .join("|")}) commands="$commands $word" ;;
      (*)) place+=1 ;;
    esac
  done
  word=\${words[CURRENT]}
  if [[ -z $option && $word == --*=* ]]; then
    option=\${word%%=*}
    compset -P '*='
  fi
  if [[ -n $option ]]; then
    _repsync_place "$commands $option"
  elif [[ $word == -* ]]; then
    _repsync_place "$commands --"
  else
    _repsync_place "$commands" || _repsync_place "$commands $place" || _repsync_place "$commands ..."
  fi
  return 0
}

if [[ \${funcstack[1]} == _repsync ]]; then
  _repsync "$@"
else
  compdef _repsync repsync
fi
`;
}

function branch({ key, candidates, filler }: CompletionPlace): string {
  const found = `found=(${candidates.map(described).join(" ")})`;
  return `    (${shellQuoted(key)}) ${filler === null ? found : FILLERS[filler]} ;;`;
}

function described({ word, description }: Candidate): string {
  const name = word.replaceAll(":", "\\:");
  return shellQuoted(description === "" ? name : `${name}:${description}`);
}
