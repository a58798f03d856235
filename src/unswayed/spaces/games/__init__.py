"""Games whose records are rankings of the cells of a board: tic-tac-toe and Hex."""
