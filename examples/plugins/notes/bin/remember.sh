#!/bin/sh
# Appends the session's id to the notes.
cat >> notes.txt
