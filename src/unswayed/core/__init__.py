"""What every layer stands on: errors, limits, array types, names and their nearest neighbours."""
