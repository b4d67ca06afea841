"""Pure rules of the ontology: no file, no database, no terminal."""
