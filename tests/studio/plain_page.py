"""Three groups as anybody would show them: Streamlit, Plotly and scikit-learn, nothing of ours."""

import os

import pandas as pd
import plotly.graph_objects as go
import streamlit as st
from sklearn.mixture import GaussianMixture


def page() -> None:
    """The page, of the rows in a file."""
    rows = pd.read_csv(os.environ["PLAIN_PAGE_ROWS"])
    st.select_slider("A number", range(53), 25, key="epsilon_step")
    x, y = rows.columns[:2]
    centres = GaussianMixture(3, random_state=0).fit(rows[[x, y]]).means_
    figure = go.Figure(go.Scatter(x=rows[x][:500], y=rows[y][:500], mode="markers"))
    figure.add_scatter(x=centres[:, 0], y=centres[:, 1], mode="markers", marker_size=14)
    st.plotly_chart(figure)


if __name__ == "__main__":
    page()
