"""Files of Polly (`.jscop`) -> Program."""
