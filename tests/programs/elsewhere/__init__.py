"""A package as users have them: what the programs of `test_across_modules` import."""
