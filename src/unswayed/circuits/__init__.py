"""Boolean functions and distributions as circuits: vtrees, SDDs, PSDDs, and networks compiled to them."""
