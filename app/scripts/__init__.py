"""Scripts for those who keep the explorer: pictures for the documents, and how fast it answers."""
