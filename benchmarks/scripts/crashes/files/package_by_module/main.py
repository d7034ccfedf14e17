"""A package that is run by -m; a layer of another file gets the mask of another length."""
# run pkg.train
