"""Machine code of low programs, by LLVM: an option, of which nothing is loaded unless it is used.

`llvm` writes a program as LLVM's text, `machine` makes code of that, and `code` calls it.
"""
