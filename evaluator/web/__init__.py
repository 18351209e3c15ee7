"""The front end: the components that run in the browser, and the one table that names them."""
