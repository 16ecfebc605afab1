"""LGCN: graph convolutions on the hyperboloid, by Lorentzian distances and centroids."""
