"""What the commands end with, as their help tells it."""

from __future__ import annotations

EXIT_CODES = """\
exit codes:
  0    all went well; for iso: isomorphic
  1    some graphs were bad or not planar (see stderr), the others were handled; for iso: not
       isomorphic; for tables --check: the file is not what the records give
  2    wrong usage, an unreadable file, or a bad graph under --strict; for iso: a bad graph
  3    no answer: input or output is closed or fails (a full disk), a run diverged, or planegraph itself fails
  130  interrupted (Ctrl-C); train and reproduce save first
  141  output pipe closed
  143  train and reproduce: stopped by SIGTERM, and saved
"""

TRAINING = """\
exit codes:
  0    all went well
  2    wrong usage or settings, or a file or run that is missing, unreadable or of something else
  3    no answer: a run diverged (of several the others are complete), input or output fails (a full disk), or planegraph itself does
  130  stopped by Ctrl-C; what was trained is saved
  141  output pipe closed
  143  stopped by SIGTERM; what was trained is saved
"""
"""Of ``train`` and ``reproduce``."""
