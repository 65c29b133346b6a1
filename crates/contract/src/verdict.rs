//! Who was the limit of a row: the server, the generator, neither, or the path between them.
