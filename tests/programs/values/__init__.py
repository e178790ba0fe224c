"""Values that programs are full of, and are not numbers, lists or plain objects."""
