"""Lower bounds: how many cells are live at one moment, and cliques of the conflict graph."""
