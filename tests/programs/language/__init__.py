"""Programs about the language itself: each construct once, with a change inside that the result needs."""
