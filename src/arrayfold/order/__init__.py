"""Who happens before whom: executions, dataflow, dependences, loops, fused orders."""
