"""The low-level program between a graph and machine code: typed registers, tapes, bail-outs.

`lower` makes one of the graphs of a derived rule, `verify` checks it, `text` writes and reads it, and
`interpret` runs it slowly: that is the judge of whatever makes machine code of it.  Nothing here knows LLVM.
"""
