"""From scores to suggestions: estimators, ranked links in the user's names, and the precision to expect of them."""
