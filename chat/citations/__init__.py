"""Citations of stored answers: the units they rest on, snapshots, presenters, the judge by a model."""
