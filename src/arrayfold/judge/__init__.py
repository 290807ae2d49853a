"""The judge: is a mapping valid, with a proof or a counterexample. It knows no method that finds mappings."""
