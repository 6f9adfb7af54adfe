"""Papers: known by their metadata first, read from their PDF later, followed through their citations."""
