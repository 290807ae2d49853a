"""A fuzzer: random inputs of several kinds, each checked without code of the tool."""
