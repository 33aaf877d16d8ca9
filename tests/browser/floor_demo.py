"""As little as Streamlit can do: a slider, and its value in one line."""

import streamlit as st

value = st.select_slider("A number", range(53), 25, key="epsilon_step")
st.html(f'<p class="floor">{value}</p>')
