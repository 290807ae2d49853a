"""What tests share: random programs, plain enumeration, pages, the command line."""
