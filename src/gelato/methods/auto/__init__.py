"""auto: several methods compared on validation links; the best of them makes the suggestions."""
