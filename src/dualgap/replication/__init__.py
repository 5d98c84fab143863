"""The five reports repeated: claims, the experiments behind them, verdicts, and the page that shows them."""
