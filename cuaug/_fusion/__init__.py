"""From transforms to launches: recipe (draws and ops), passes, the program of draws, launch plans, CPU runs."""
