"""The folder of a run, as files: settings, log, checkpoint, result, provenance; and the trials and models that they speak of."""
