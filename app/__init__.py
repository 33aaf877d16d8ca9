"""The explorer: a Streamlit reader of dpcore. No mathematics lives here."""
