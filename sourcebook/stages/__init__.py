"""One module or small package for each pipeline asset, with the asset's own name."""
