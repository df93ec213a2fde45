"""What ``planegraph train`` and ``planegraph reproduce`` end with, as their help tells it; of the other commands see cli/__init__.py."""

from __future__ import annotations

TRAINING = """\
exit codes:
  0    all went well
  2    wrong usage or settings, or a file or run that is missing, unreadable or of something else
  3    no answer: a run diverged, input or output fails (a full disk), or planegraph itself does
  130  stopped by Ctrl-C; what was trained is saved
  141  whoever read the output went away
  143  stopped by SIGTERM; what was trained is saved
"""
