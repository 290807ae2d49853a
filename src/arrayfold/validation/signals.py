"""How control flows on after a statement: None to the next one; a text is the label of a goto."""

BREAK = 1
CONTINUE = 2
RETURN = 3
