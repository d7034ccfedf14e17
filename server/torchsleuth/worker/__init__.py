"""The analysis of documents in the user's interpreter, and the client that talks to it."""
