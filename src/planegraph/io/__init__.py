"""Files: read up to a bound, written whole or not at all, with checksums; and text for terminals and CSV readers."""
