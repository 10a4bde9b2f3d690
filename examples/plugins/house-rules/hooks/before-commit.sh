#!/bin/bash
# Prints the team's rules when a commit is about to be made.
set -u
input=$(cat)
case "$input" in
  *"git commit"*) cat "${CLAUDE_PLUGIN_ROOT}/rules.txt" ;;
esac
exit 0
